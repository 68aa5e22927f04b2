/** Sequences of a terminal: titles and links (OSC), strings of devices (DCS, SOS, PM, APC), CSI with colours among them, and short ones. */
const sequences =
  /\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b[PX^_][^\x1b]*(?:\x1b\\)?|(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?|\x1b[ -/]*[0-~]?/g;
const colour = /^\x1b\[[\d;]*m$/;

/** Further colours in one line are left out, because rendering them takes time, and no program needs that many. */
const maxColours = 200;

/**
 * What a terminal would show of a line, with its colours: the text after the last carriage return, without other control sequences.
 * @param max how many colours the line may have, since all lines of a page share a limit
 */
export function withColours(line: string, max = maxColours): ColouredText {
  let colours = 0;
  const isKept = (sequence: string) => colour.test(sequence) && ++colours <= Math.min(max, maxColours);
  const text = withoutSequences(line, (sequence) => (isKept(sequence) ? sequence : ''));
  return { text, colours };
}

export interface ColouredText {
  readonly text: string;
  /** How many colours the line had, whether they were kept or not. */
  readonly colours: number;
}

/** The text that a reader sees of a line. Searches look in it. */
export function toShownText(line: string): string {
  return withoutSequences(line, () => '');
}

function withoutSequences(line: string, replace: (sequence: string) => string): string {
  const shown = line.includes('\r') ? line.slice(line.trimEnd().lastIndexOf('\r') + 1) : line;
  return /[\x1b\x9b]/.test(shown) ? shown.replace(sequences, replace) : shown;
}
