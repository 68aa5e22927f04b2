import { digestOf } from '#domain/shared/values/digest.ts';
import type { Deployment, Difference } from './compared.ts';

/** The two sides of a comparison: the deployment, and the version of the form. */
interface Comparison {
  readonly baseline: Deployment;
  readonly version: string;
}

/** Identifies the comparison. Having seen the differences from one deployment says nothing about another one. */
function subjectOf({ baseline, version }: Comparison): string[] {
  return [baseline.run.id, version];
}

/**
 * Digests of the differences that the form shows. The form sends them back, so that no run starts whose differences the visitor has not
 * seen. Entering a secret that the form asks for, or dropping it, counts as seen.
 */
export function markDifferences(of: Comparison, differences: readonly Difference[]): string {
  const all = differences.flatMap((each): Difference[] =>
    each.kind === 'asked'
      ? [each, { ...each, kind: 'emptied' }, { ...each, kind: 'changed', after: 'a secret, entered again' }]
      : [each],
  );
  return [...subjectOf(of), ...all].map(markOf).join(' ');
}

/** Whether the sent form had shown all of these differences. */
export function areShown(sent: string, of: Comparison, differences: readonly Difference[]): boolean {
  const shown = new Set(sent.split(' '));
  return [...subjectOf(of), ...differences].every((each) => shown.has(markOf(each)));
}

function markOf(what: string | Difference): string {
  return digestOf(Buffer.from(JSON.stringify(what))).slice('sha256:'.length, 'sha256:'.length + 16);
}
