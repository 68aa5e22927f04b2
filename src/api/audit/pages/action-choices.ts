import { tagOf } from '#api/document/tags.ts';
import type { EncodedAnswerOf } from '#api/pipeline/answers/answer-types.ts';
import type { Choice } from '#api/web/forms/fields/choices.ts';
import { capitalize } from '#api/web/text.ts';
import type { listActions } from '../operations.ts';

export type CatalogueEntry = EncodedAnswerOf<typeof listActions.responses>['actions'][number];

/** The actions of a filter, in groups by area. Those of reads come last. @param kind null: both kinds */
export function choicesOfActions(entries: readonly CatalogueEntry[], kind: CatalogueEntry['kind'] | null): Choice[] {
  const areas = areasOfTypes(entries);
  const byAction = new Map(entries.map((entry) => [entry.action, entry] as const));
  const choices = [...byAction.values()].flatMap((entry) => {
    if (kind !== null && entry.kind !== kind) return [];
    const area = toWords(areas.get(entry.resource_type) ?? entry.resource_type);
    const group = entry.kind === 'read' ? `${area}, reads` : area;
    return [{ value: entry.action, label: entry.action, group, order: `${entry.kind === 'read' ? 1 : 0}${group}` }];
  });
  return choices
    .toSorted((one, other) => compare(one.order, other.order) || compare(one.value, other.value))
    .map(({ order: _, ...choice }) => choice);
}

/** The types of resources that records name. A type that was typed otherwise stays, so that its problem can be shown. */
export function choicesOfTypes(entries: readonly CatalogueEntry[], chosen: string | undefined): Choice[] {
  const types = [...new Set([...entries.map((entry) => entry.resource_type), ...(chosen ? [chosen] : [])])];
  return types.toSorted(compare).map((value) => ({ value, label: toWords(value) }));
}

/** The area that each type of resource belongs to. What the service does by itself has no operation, and goes with the operations on the same type. */
function areasOfTypes(entries: readonly CatalogueEntry[]): ReadonlyMap<string, string> {
  return new Map(
    entries.flatMap(({ operation, resource_type: type }) =>
      operation === null ? [] : [[type, tagOf({ id: operation })] as const],
    ),
  );
}

function toWords(name: string): string {
  return capitalize(name.replaceAll('_', ' '));
}

function compare(one: string, other: string): number {
  return one < other ? -1 : Number(one > other);
}
