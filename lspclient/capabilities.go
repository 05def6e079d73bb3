package lspclient

import "go.lsp.dev/protocol"

// Capabilities returns what the client announces to every server. What is left
// out is left out on purpose: willRename makes one server leave the text edits
// of a rename to the editor, snippets and server-defined commands need an editor
// to run them.
func Capabilities() protocol.ClientCapabilities {
	yes, no := true, false
	return protocol.ClientCapabilities{
		General: &protocol.GeneralClientCapabilities{
			PositionEncodings:   []protocol.PositionEncodingKind{protocol.PositionEncodingKindUTF8, protocol.PositionEncodingKindUTF16},
			StaleRequestSupport: protocol.StaleRequestSupportOptions{Cancel: true, RetryOnContentModified: []string{}},
		},
		Window: &protocol.WindowClientCapabilities{WorkDoneProgress: &yes},
		Workspace: &protocol.WorkspaceClientCapabilities{
			ApplyEdit:              &yes,
			Configuration:          &yes,
			WorkspaceFolders:       &yes,
			DidChangeConfiguration: &protocol.DidChangeConfigurationClientCapabilities{DynamicRegistration: &yes},
			DidChangeWatchedFiles: &protocol.DidChangeWatchedFilesClientCapabilities{
				DynamicRegistration: &yes, RelativePatternSupport: &yes,
			},
			ExecuteCommand: &protocol.ExecuteCommandClientCapabilities{},
			Symbol: &protocol.WorkspaceSymbolClientCapabilities{
				SymbolKind: &protocol.ClientSymbolKindOptions{ValueSet: symbolKinds()},
			},
			WorkspaceEdit: &protocol.WorkspaceEditClientCapabilities{
				DocumentChanges: &yes,
				ResourceOperations: []protocol.ResourceOperationKind{
					protocol.ResourceOperationKindCreate, protocol.ResourceOperationKindRename, protocol.ResourceOperationKindDelete,
				},
				FailureHandling:         protocol.FailureHandlingKindTransactional,
				NormalizesLineEndings:   &no,
				ChangeAnnotationSupport: &protocol.ChangeAnnotationsSupportOptions{},
			},
		},
		TextDocument: &protocol.TextDocumentClientCapabilities{
			Synchronization:    &protocol.TextDocumentSyncClientCapabilities{DidSave: &yes},
			Definition:         &protocol.DefinitionClientCapabilities{},
			Declaration:        &protocol.DeclarationClientCapabilities{},
			TypeDefinition:     &protocol.TypeDefinitionClientCapabilities{},
			Implementation:     &protocol.ImplementationClientCapabilities{},
			References:         &protocol.ReferenceClientCapabilities{},
			CallHierarchy:      &protocol.CallHierarchyClientCapabilities{},
			TypeHierarchy:      &protocol.TypeHierarchyClientCapabilities{},
			SelectionRange:     &protocol.SelectionRangeClientCapabilities{},
			Formatting:         &protocol.DocumentFormattingClientCapabilities{},
			PublishDiagnostics: &protocol.PublishDiagnosticsClientCapabilities{VersionSupport: &yes, DiagnosticsCapabilities: diagnostics(&yes)},
			Diagnostic:         &protocol.DiagnosticClientCapabilities{DynamicRegistration: &yes, DiagnosticsCapabilities: diagnostics(&yes)},
			Hover: &protocol.HoverClientCapabilities{
				ContentFormat: []protocol.MarkupKind{protocol.MarkupKindMarkdown, protocol.MarkupKindPlainText},
			},
			Rename: &protocol.RenameClientCapabilities{PrepareSupport: &yes, HonorsChangeAnnotations: &yes},
			DocumentSymbol: &protocol.DocumentSymbolClientCapabilities{
				HierarchicalDocumentSymbolSupport: &yes,
				SymbolKind:                        &protocol.ClientSymbolKindOptions{ValueSet: symbolKinds()},
			},
			CodeAction: &protocol.CodeActionClientCapabilities{
				CodeActionLiteralSupport: protocol.ClientCodeActionLiteralOptions{
					CodeActionKind: protocol.ClientCodeActionKindOptions{ValueSet: []protocol.CodeActionKind{
						"", "quickfix", "refactor", "refactor.extract", "refactor.inline", "refactor.move", "refactor.rewrite",
						"source", "source.organizeImports", "source.fixAll",
					}},
				},
				IsPreferredSupport:      &yes,
				DisabledSupport:         &yes,
				DataSupport:             &yes,
				HonorsChangeAnnotations: &yes,
				ResolveSupport:          protocol.ClientCodeActionResolveOptions{Properties: []string{"edit"}},
			},
		},
		Experimental: []byte(`{"serverStatusNotification":true,"interactiveResolve":{"inputTypes":["string","enum","bool","file"]}}`),
	}
}

func diagnostics(yes *bool) protocol.DiagnosticsCapabilities {
	return protocol.DiagnosticsCapabilities{RelatedInformation: yes, DataSupport: yes, CodeDescriptionSupport: yes}
}

func symbolKinds() []protocol.SymbolKind {
	kinds := make([]protocol.SymbolKind, 0, protocol.SymbolKindTypeParameter)
	for k := protocol.SymbolKindFile; k <= protocol.SymbolKindTypeParameter; k++ {
		kinds = append(kinds, k)
	}
	return kinds
}
