/** A rule for deviations that a monitor ignores. Both members are patterns: `*` matches any characters, or none. */
export interface IgnoreRule {
  readonly address: string;
  readonly path: string;
}

/** Compiles rules once for all deviations of a scan. Matching takes time linear in the text for each `*`. */
export function compileIgnoreRules(rules: readonly IgnoreRule[]): (address: string, path: string) => boolean {
  const compiled = rules.map((rule) => ({ address: rule.address.split('*'), path: rule.path.split('*') }));
  return (address, path) => compiled.some((rule) => matches(rule.address, address) && matches(rule.path, path));
}

/** Whether a text consists of the parts in their order, with any characters between them. */
function matches([first = '', ...others]: readonly string[], text: string): boolean {
  if (others.length === 0) return text === first;
  const last = others.pop() as string;
  if (!text.startsWith(first)) return false;
  let from = first.length;
  for (const part of others) {
    const at = text.indexOf(part, from);
    if (at === -1) return false;
    from = at + part.length;
  }
  return text.length - last.length >= from && text.endsWith(last);
}
