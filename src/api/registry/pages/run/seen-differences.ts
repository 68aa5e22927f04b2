import { digestOf } from '#domain/shared/values/digest.ts';
import type { Deployment, Difference } from './compared.ts';

/** What is compared: what is deployed, with the version of the form. */
interface Comparison {
  readonly baseline: Deployment;
  readonly version: string;
}

/** Differences that were shown of one deployment say nothing about another one. */
function subjectOf({ baseline, version }: Comparison): string[] {
  return [baseline.run.id, version];
}

/**
 * What a form sends along, so that visitors start no run whose differences they were not shown. They have also seen what they entered themselves.
 */
export function markDifferences(of: Comparison, differences: readonly Difference[]): string {
  const all = differences.flatMap((each): Difference[] =>
    each.kind === 'asked'
      ? [each, { ...each, kind: 'emptied' }, { ...each, kind: 'changed', after: 'a secret, entered again' }]
      : [each],
  );
  return [...subjectOf(of), ...all].map(markOf).join(' ');
}

/** Whether the form that was sent had shown all of these differences. */
export function areShown(sent: string, of: Comparison, differences: readonly Difference[]): boolean {
  const shown = new Set(sent.split(' '));
  return [...subjectOf(of), ...differences].every((each) => shown.has(markOf(each)));
}

function markOf(what: string | Difference): string {
  return digestOf(Buffer.from(JSON.stringify(what))).slice('sha256:'.length, 'sha256:'.length + 16);
}
