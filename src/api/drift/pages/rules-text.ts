import type { IgnoreRule } from '#domain/drift/monitors/ignore-rules.ts';

/** Rules as text: one a line, with the address, a space and the attribute. */
export function textOf(rules: readonly IgnoreRule[]): string {
  return rules.map(({ address, path }) => (path === '*' ? address : `${address} ${path}`)).join('\n');
}

/** Reads such lines. The first space outside of brackets ends the address. Keys of resources are in brackets, and may contain spaces. */
export function rulesOf(text: string): IgnoreRule[] {
  const lines = text.split('\n').map((line) => line.trim());
  return lines.filter((line) => line !== '').map(toRule);
}

function toRule(line: string): IgnoreRule {
  const at = findGap(line);
  if (at === -1) return { address: line, path: '*' };
  return { address: line.slice(0, at).trim(), path: line.slice(at).trim() };
}

/** The index of that space; -1 if there is none. */
function findGap(line: string): number {
  let depth = 0;
  for (const [index, sign] of [...line].entries()) {
    if (sign === '[') depth += 1;
    if (sign === ']') depth -= 1;
    if (sign === ' ' && depth <= 0) return index;
  }
  return -1;
}
