import { type InstanceReference, readReference as readInstanceReference } from '#domain/variables/reference-syntax.ts';
import { nodeKeyPattern } from './spec.ts';

/**
 * How references are written: `${variables.x.y}`, `${nodes.network.outputs.ids[0]}`; `$${` is a literal `${`. A text that consists only of
 * a reference may name an output of an instance outside the assembly, as in variables of runs.
 */

export type Reference =
  | { readonly kind: 'variable'; readonly name: string; readonly path: readonly (string | number)[] }
  | {
      readonly kind: 'output';
      readonly node: string;
      readonly name: string;
      readonly path: readonly (string | number)[];
    };

export type Part =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'reference'; readonly reference: Reference }
  | { readonly kind: 'instance'; readonly reference: InstanceReference }
  | { readonly kind: 'malformed'; readonly message: string };

/** A name after a dot, a position, or any name in quotes. All lengths are bounded, so that matching is fast for every text. */
const step = /\.([A-Za-z0-9_][A-Za-z0-9_-]{0,127})|\[(\d{1,9})\]|\[("(?:[^"\\]|\\.){0,128}")\]/y;
const root = /(variables|nodes)(?=[.[])/y;
const maxSteps = 20;
const maxShown = 60;

/** The parts of a text, in their order. */
export function splitText(text: string): Part[] {
  const instance = readInstanceReference(text);
  if (instance && 'output' in instance) return [{ kind: 'instance', reference: instance }];
  const parts: Part[] = [];
  let literal = '';
  let at = 0;
  const flush = () => {
    if (literal !== '') parts.push({ kind: 'text', text: literal });
    literal = '';
  };
  for (let dollar = text.indexOf('${'); dollar >= 0; dollar = text.indexOf('${', at)) {
    if (dollar > at && text[dollar - 1] === '$') {
      literal += `${text.slice(at, dollar - 1)}\${`;
      at = dollar + 2;
      continue;
    }
    literal += text.slice(at, dollar);
    flush();
    const { part, end } = readReference(text, dollar + 2);
    parts.push(part);
    at = end;
  }
  literal += text.slice(at);
  flush();
  return parts;
}

function readReference(text: string, start: number): { part: Part; end: number } {
  const steps: (string | number)[] = [];
  let at = start;
  root.lastIndex = start;
  const [kind] = root.exec(text) ?? [];
  if (kind === undefined) return malformed(text, start);
  at += kind.length;
  while (text[at] !== '}') {
    step.lastIndex = at;
    const [all, name, position, quoted] = step.exec(text) ?? [];
    if (all === undefined || steps.length === maxSteps) return malformed(text, start);
    const parsed = quoted === undefined ? (name ?? Number(position)) : unquote(quoted);
    if (parsed === undefined) return malformed(text, start);
    steps.push(parsed);
    at += all.length;
  }
  const reference = toReference(kind, steps);
  return reference ? { part: { kind: 'reference', reference }, end: at + 1 } : malformed(text, start);
}

/** The reference made of `variables` or `nodes` and the following steps; undefined if they are not a valid reference. */
export function toReference(kind: string, steps: readonly (string | number)[]): Reference | undefined {
  const [first, second, third, ...rest] = steps;
  if (typeof first !== 'string') return undefined;
  if (kind === 'variables') return { kind: 'variable', name: first, path: steps.slice(1) };
  if (kind !== 'nodes' || second !== 'outputs' || typeof third !== 'string') return undefined;
  return { kind: 'output', node: first, name: third, path: rest };
}

function unquote(quoted: string): string | undefined {
  try {
    return JSON.parse(quoted);
  } catch {
    return undefined;
  }
}

function malformed(text: string, start: number): { part: Part; end: number } {
  const near = text.slice(start, start + maxShown);
  const close = near.indexOf('}');
  const shown = `\${${close < 0 ? near : near.slice(0, close + 1)}`;
  const message =
    `${JSON.stringify(shown)} is no reference: write \${variables.<name>} or \${nodes.<key>.outputs.<name>}, ` +
    'or nothing but ${instances.<environment>/<name>.outputs.<output>}, and $${ where you mean the characters themselves';
  return { part: { kind: 'malformed', message }, end: close < 0 ? start : start + close + 1 };
}

const plainName = /^[A-Za-z_][A-Za-z0-9_-]*$/;

/** A reference in its written form, without `${}`. */
export function describeReference(reference: Reference): string {
  const { path } = reference;
  const name = (text: string) => (plainName.test(text) ? `.${text}` : `[${JSON.stringify(text)}]`);
  const head =
    reference.kind === 'variable'
      ? `variables${name(reference.name)}`
      : `nodes${nodeKeyPattern.test(reference.node) ? `.${reference.node}` : name(reference.node)}.outputs${name(reference.name)}`;
  return head + path.map((part) => (typeof part === 'number' ? `[${part}]` : name(part))).join('');
}
