import { completeSummary, type PlanSummary, type StoredSummary } from './model.ts';

/** The words for each count, for one and for several, in the order in which people should read them. */
const resourceWords = [
  ['destroy', 'to destroy', 'to destroy'],
  ['change', 'to change', 'to change'],
  ['add', 'to add', 'to add'],
  ['replace', 'of them replaced', 'of them replaced'],
  ['import', 'to import', 'to import'],
  ['move', 'to move', 'to move'],
  ['forget', 'to forget', 'to forget'],
] as const satisfies readonly (readonly [keyof PlanSummary, string, string])[];
const otherWords = [
  ['outputs', 'output changes', 'outputs change'],
  ['actions', 'action', 'actions'],
  ['deferred', 'deferred change', 'deferred changes'],
  ['checks', 'check fails', 'checks fail'],
  ['warnings', 'warning', 'warnings'],
] as const satisfies readonly (readonly [keyof PlanSummary, string, string])[];

/** What a plan would do, such as `1 to destroy, 2 to add, 1 output changes`. */
export function countsInWords(stored: StoredSummary): string {
  const summary = completeSummary(stored);
  const countAll = (words: readonly (readonly [keyof PlanSummary, string, string])[]) =>
    words
      .filter(([name]) => summary[name] > 0)
      .map(([name, one, many]) => `${summary[name]} ${summary[name] === 1 ? one : many}`);
  const resources = countAll(resourceWords);
  return [...(resources.length > 0 ? resources : ['no resource changes']), ...countAll(otherWords)].join(', ');
}
