import { globSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { parseSync } from '@swc/core';
import { Random } from '#test/support/pages/random.ts';
import { type Mutation, mutationsOf, type SyntaxNode } from './operators.ts';

/** A mutant: one change of one file. */
export interface Mutant extends Mutation {
  readonly file: string;
  readonly line: number;
  /** The line, without its indentation. */
  readonly code: string;
  readonly before: string;
}

/** The files with rules: what may be done, by whom, when, and how much of it. */
const ruleFiles =
  /\/(?:(?:[a-z]+-)*(?:rules|authority|grants?|permissions|actions|limits)|decide|weakest-role|next-step|obstacles|verdicts|validate|model|holds|freeze-windows|standing|owner|access|principal|staleness|egress|placement|review|reviewers|cancel|suppression|deviations|decide-step|retries|protection|transfer|policy|expiry|crossings|cron|next-times|demand|bounds)\.ts$/;

/** All places of rules under `src/domain`, and of declared access under `src/api`. */
export function findPlaces(): Mutant[] {
  const rules = globSync('src/domain/**/*.ts').filter((file) => ruleFiles.test(`/${file}`));
  const declared = globSync('src/api/**/*operations.ts');
  return [...rules, ...declared].sort().flatMap(mutantsOf);
}

/** Draws places by a seed, of the files whose path begins so: the same seed draws the same places of the same code. */
export function drawMutants(seed: number, count: number, below: string): Mutant[] {
  const places = findPlaces().filter(({ file }) => file.startsWith(below));
  return new Random(seed).some(places, count);
}

function mutantsOf(file: string): Mutant[] {
  const source = readFileSync(file);
  // The parser counts on from the files before. The empty statement says where this one begins.
  const { body } = parseSync(`;${source}`, { syntax: 'typescript' });
  const base = (body[0]?.span.start ?? 0) + 1;
  const textOf = ({ span }: { span: { start: number; end: number } }) =>
    source.subarray(span.start - base, span.end - base).toString();
  const found: Mutation[] = [];
  const onlyAccess = basename(file).endsWith('operations.ts');
  walk(body.slice(1), onlyAccess, (node) => found.push(...mutationsOf(node, textOf)));
  const lines = source.toString().split('\n');
  const lineOf = (offset: number) =>
    source
      .subarray(0, offset - base)
      .toString()
      .split('\n').length;
  const changed = found.filter(({ start, end, text }) => source.subarray(start - base, end - base).toString() !== text);
  return changed.map(({ start, end, ...rest }) => ({
    ...rest,
    file,
    start: start - base,
    end: end - base,
    line: lineOf(start),
    code: lines[lineOf(start) - 1]?.trim() ?? '',
    before: source.subarray(start - base, end - base).toString(),
  }));
}

/** Whether the node declares who may call an operation. */
function declaresAccess(node: SyntaxNode): boolean {
  const name =
    node.type === 'KeyValueProperty' ? node.key.value : node.type === 'VariableDeclarator' ? node.id.value : '';
  return /^access$|Access$/.test(name ?? '');
}

/** Types, imports and texts that people read are no rules. */
function walk(node: SyntaxNode, onlyAccess: boolean, visit: (node: SyntaxNode) => void): void {
  if (Array.isArray(node)) for (const each of node) walk(each, onlyAccess, visit);
  if (node === null || typeof node !== 'object' || Array.isArray(node)) return;
  if (/^(?:Ts(?!As|NonNull|Satisfies|ConstAssertion)|Import|TemplateLiteral)/.test(node.type ?? '')) return;
  const isAccess = onlyAccess && !declaresAccess(node);
  if (!isAccess && node.type) visit(node);
  for (const child of Object.values(node)) walk(child, isAccess, visit);
}
