import { tokenizeHcl } from './tokens.ts';

/** Finds the blocks of a configuration file without evaluating it. A file that cannot be parsed is left for the tool to refuse. */

export interface Block {
  readonly type: string;
  /** Labels as they are written, without quotes. */
  readonly labels: readonly string[];
  /** 1 for the first. Null in JSON if the block's name is written with escapes. */
  readonly line: number | null;
  /** The type of the top-level block that directly contains it; null for a top-level block. */
  readonly parent: string | null;
  /** Whether it has no arguments and no blocks. */
  readonly isEmpty: boolean;
}

/** Returns the top-level blocks of a file, and the blocks directly in them. */
export function findBlocks({ name, text }: { readonly name: string; readonly text: string }): Block[] {
  return name.endsWith('.json') ? findJsonBlocks(text) : findHclBlocks(text);
}

function findHclBlocks(text: string): Block[] {
  const found: Block[] = [];
  const open: { block: Block | null; contents: number }[] = [];
  let header: { text: string; line: number }[] = [];
  for (const { kind, text: token, line } of tokenizeHcl(text)) {
    const last = open.at(-1);
    if (token === '{') {
      if (last) last.contents++;
      open.push({ block: open.length < 2 ? toBlock(header, open[0]?.block ?? null) : null, contents: 0 });
      header = [];
    } else if (token === '}') {
      const closed = open.pop();
      if (closed?.block) found.push({ ...closed.block, isEmpty: closed.contents === 0 });
      header = [];
    } else if (token === '\n') header = [];
    else {
      if (last) last.contents++;
      header.push({ text: kind === 'string' ? token.slice(1, -1) : token, line });
    }
  }
  // An unclosed block is an error of the tool's, but what it begins with counts.
  for (const { block } of open) if (block) found.push({ ...block, isEmpty: false });
  return found;
}

/** `header` is what stands before a brace on its line. That of an object is no block: it has a `=`, or nothing. */
function toBlock(header: readonly { text: string; line: number }[], parent: Block | null): Block | null {
  const [first, ...labels] = header;
  if (first === undefined || header.some(({ text }) => /^[=(,[:?]$/.test(text))) return null;
  return {
    type: first.text,
    labels: labels.map(({ text }) => text),
    line: first.line,
    parent: parent?.type ?? null,
    isEmpty: false,
  };
}

function findJsonBlocks(text: string): Block[] {
  let root: unknown;
  try {
    root = JSON.parse(text);
  } catch {
    return [];
  }
  const lines = linesOfMembers(text);
  const lineOf = (type: string) => lines.get(type) ?? null;
  const found: Block[] = [];
  for (const [type, value] of membersOf(root)) {
    const names = type === 'variable' ? membersOf(value).map(([name]) => [name]) : [[]];
    for (const labels of names) found.push({ type, labels, line: lineOf(type), parent: null, isEmpty: false });
    if (type !== 'terraform') continue;
    for (const [inner, content] of membersOf(value)) {
      for (const block of toJsonBlocks(inner, content)) found.push({ ...block, line: lineOf(inner), parent: type });
    }
  }
  return found;
}

/** `backend` has its label as a member; `cloud` has none. */
function toJsonBlocks(type: string, content: unknown): Pick<Block, 'type' | 'labels' | 'isEmpty'>[] {
  const members = membersOf(content);
  if (type !== 'backend' || members.length === 0) return [{ type, labels: [], isEmpty: members.length === 0 }];
  return members.map(([label, body]) => ({ type, labels: [label], isEmpty: membersOf(body).length === 0 }));
}

/** The members of an object, or of all objects of a list. */
function membersOf(value: unknown): [string, unknown][] {
  if (Array.isArray(value)) return value.flatMap((item) => (Array.isArray(item) ? [] : membersOf(item)));
  return typeof value === 'object' && value !== null ? Object.entries(value) : [];
}

/** The line on which each member occurs first, wherever it is. Takes one pass over the text. */
function linesOfMembers(text: string): Map<string, number> {
  const lines = new Map<string, number>();
  let line = 1;
  let lineFeed = text.indexOf('\n');
  for (const { index, 1: name = '' } of text.matchAll(/"([\w-]+)"\s*:/g)) {
    for (; lineFeed !== -1 && lineFeed < index; lineFeed = text.indexOf('\n', lineFeed + 1)) line += 1;
    if (!lines.has(name)) lines.set(name, line);
  }
  return lines;
}
