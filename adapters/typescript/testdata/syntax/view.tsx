import React from "react";

export const View: React.FC<Props> = ({ title, onClick = () => {} }) => {
  const [state, setState] = useState<string>("");
  return (
    <div className="box" onClick={() => setState("x")} data-id={state}>
      {/* comment */}
      text {title}
      <Generic<string> value={1} />
      <ns.Member />
    </div>
  );
};
type Props = { title: string; onClick?: (e: Event) => void };
export default View;

export const Page = () => <Shell.Frame><View title={label()} /><div>{(render)<Props>(1)}</div></Shell.Frame>;
