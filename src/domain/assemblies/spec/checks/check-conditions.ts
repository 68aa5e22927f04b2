import { suggest } from '#domain/shared/values/near-names.ts';
import type { ConditionReport, Verdict } from '../conditions/satisfiability.ts';
import type { Draft, Problems } from '../draft-parts.ts';
import { type Problem, pointer } from '../problems.ts';
import { explainUnknown } from './check-references.ts';

/** Checks the conditions of the nodes. */
export function checkConditions(draft: Draft): Problems {
  return { errors: [explainAll(draft)] };
}

function* explainAll(draft: Draft): Generator<Problem> {
  for (const [key, report] of draft.conditions) {
    const path = pointer('nodes', key, 'when');
    for (const message of explain(report, draft)) yield { path, message };
  }
}

function explain(report: ConditionReport, draft: Draft): string[] {
  if ('problem' in report) return [report.problem];
  const unknown = checkConditionNames(report, draft);
  if (unknown.length > 0) return unknown;
  const verdict = explainVerdict(report.verdict, report.statuses.length > 0);
  return verdict === null ? [] : [verdict];
}

function explainVerdict(verdict: Verdict, readsStatus: boolean): string | null {
  if (verdict.kind === 'possible') return null;
  if (verdict.kind === 'broken') return `cannot be evaluated, whatever the values are: it ${verdict.reason}`;
  const hint = readsStatus
    ? '; the status of a node is "succeeded" or "skipped" here: what depends on a node that failed is not evaluated'
    : '';
  return `can never be true, whatever the values are: change it, or remove the node${hint}`;
}

type Readable = Exclude<ConditionReport, { problem: string }>;

/** The errors about names that a condition reads and the assembly does not have. */
function checkConditionNames({ references, statuses }: Readable, draft: Draft): string[] {
  const keys = [...draft.keys];
  const unknownNodes = statuses
    .filter((key) => !draft.keys.has(key))
    .map((key) => `refers to the node "${key}", which this assembly does not have${suggest(key, keys)}`);
  const unknown = references.flatMap((reference) => explainUnknown(reference, draft) ?? []);
  return [...new Set([...unknownNodes, ...unknown])];
}
