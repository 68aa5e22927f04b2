import type { z } from 'zod';
import type { AccessReview } from '#domain/shared/access/decide.ts';
import { Invalid } from '#domain/shared/errors.ts';
import type { Guarded } from './authorization.ts';
import { type Erased, isPublic, type Operation, routeOf } from './operation.ts';

/** An operation as `can-i` knows it. */
export interface CatalogueEntry {
  readonly operation: Guarded;
  readonly review: AccessReview;
  /** A review of it must name something; else it is about a collection. */
  readonly isNamed: boolean;
  /** A review of it says of which team it is; where it may be of none, only where it is of one. */
  readonly takesTeam: boolean;
  /** The parameter of the path that the name stands for, and what it may look like. */
  readonly parameter: { readonly name: string; readonly schema: z.ZodType } | null;
}

/** What may be reviewed: resources and verbs, as the operations themselves declare them. */
export class Catalogue {
  readonly #resources = new Map<string, Map<string, CatalogueEntry>>();

  /** @throws Error where two operations have one name, or one inherits a review that there is not */
  constructor(operations: readonly Operation[]) {
    for (const operation of operations) if (isReviewed(operation)) this.#add(toEntry(operation));
    for (const operation of operations) refuseLostReview(operation, operations);
  }

  get entries(): CatalogueEntry[] {
    return [...this.#resources.values()].flatMap((verbs) => [...verbs.values()]);
  }

  /** @throws Invalid naming what there is instead */
  find(resource: string, verb: string): CatalogueEntry {
    const verbs = this.#resources.get(resource);
    if (!verbs) throw new Invalid(`resource: ${quote(resource)} is not reviewed here: use ${list(this.#resources)}`);
    const entry = verbs.get(verb);
    if (!entry) throw new Invalid(`verb: ${resource} have no ${quote(verb)}: use ${list(verbs)}`);
    return entry;
  }

  #add(entry: CatalogueEntry): void {
    const { resource, verb } = entry.review;
    const verbs = this.#resources.get(resource) ?? new Map<string, CatalogueEntry>();
    const other = verbs.get(verb);
    if (other)
      throw new Error(`${other.operation.id} and ${entry.operation.id} are both reviewed as ${resource} ${verb}`);
    this.#resources.set(resource, verbs.set(verb, entry));
  }
}

const catalogues = new WeakMap<readonly Operation[], Catalogue>();

/** The catalogue of these operations, made once. */
export function catalogueOf(operations: readonly Operation[]): Catalogue {
  const known = catalogues.get(operations) ?? new Catalogue(operations);
  catalogues.set(operations, known);
  return known;
}

function isReviewed(operation: Operation): operation is Operation & Guarded & { access: { review: AccessReview } } {
  const { access } = operation;
  return !isPublic(access) && typeof access.review === 'object' && 'resource' in access.review;
}

function toEntry(operation: Operation & Guarded & { access: { review: AccessReview } }): CatalogueEntry {
  const { review } = operation.access;
  const parameter = parameterOf(operation, review);
  const isNamed = parameter !== null || review.only !== undefined;
  const takesTeam = operation.access.scope === 'team' || review.unscoped === true;
  return { operation, review, parameter, isNamed, takesTeam };
}

function parameterOf(operation: Operation, review: AccessReview): CatalogueEntry['parameter'] {
  const inPath = (routeOf(operation).path.match(/:\w+/g) ?? []).map((each) => each.slice(1));
  const name = review.parameter ?? inPath.at(-1);
  if (name === undefined) return null;
  if (!inPath.includes(name)) throw new Error(`${operation.id} is reviewed by ${name}, which is not in its path`);
  return { name, schema: (operation.params as Erased).shape[name] };
}

/** Whose review an operation has inherited must have one itself. */
function refuseLostReview(operation: Operation, operations: readonly Operation[]): void {
  if (isPublic(operation.access)) return;
  const { review } = operation.access;
  if (review === 'none' || !('inherits' in review)) return;
  const heir = operations.find(({ id }) => id === review.inherits);
  if (!heir || !isReviewed(heir))
    throw new Error(`${operation.id} inherits the review of ${review.inherits}, which has none`);
}

function quote(text: string): string {
  return JSON.stringify(text.slice(0, 64));
}

function list(names: ReadonlyMap<string, unknown>): string {
  return [...names.keys()].sort().join(', ');
}
