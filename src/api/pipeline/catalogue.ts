import type { z } from 'zod';
import type { AccessReview } from '#domain/shared/access/decide.ts';
import { Invalid } from '#domain/shared/errors.ts';
import { isProtected, type ProtectedOperation } from './access/authorization.ts';
import { paramNamesOf } from './answers/location.ts';
import { type Erased, isPublic, type Operation, routeOf } from './operation.ts';

/** An operation that `can-i` reviews. */
export interface CatalogueEntry {
  readonly operation: ProtectedOperation;
  readonly review: AccessReview;
  /** Whether a review of the operation names one resource. Otherwise, it is about the collection. */
  readonly isNamed: boolean;
  /** Whether a review of the operation may name a team: it must, it must not, or it must if the resource belongs to one. */
  readonly team: 'required' | 'refused' | 'optional';
  /** The path parameter that a review's name replaces, with its schema; null if the path has none. */
  readonly parameter: { readonly name: string; readonly schema: z.ZodType } | null;
}

/** The resources and verbs that can be reviewed, as the operations declare them. */
export class Catalogue {
  readonly #resources = new Map<string, Map<string, CatalogueEntry>>();

  /** @throws Error if two operations share a resource and verb, or one inherits a review that does not exist */
  constructor(operations: readonly Operation[]) {
    for (const operation of operations) if (isReviewed(operation)) this.#add(toEntry(operation));
    for (const operation of operations) refuseMissingReview(operation, operations);
  }

  get entries(): CatalogueEntry[] {
    return [...this.#resources.values()].flatMap((verbs) => [...verbs.values()]);
  }

  /** Undefined: no such resource or verb is reviewed. */
  findOptional(resource: string, verb: string): CatalogueEntry | undefined {
    return this.#resources.get(resource)?.get(verb);
  }

  /** @throws Invalid listing the resources or verbs that exist */
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

/** The catalogue of these operations. It is built once. */
export function catalogueOf(operations: readonly Operation[]): Catalogue {
  const known = catalogues.get(operations) ?? new Catalogue(operations);
  catalogues.set(operations, known);
  return known;
}

type ReviewedOperation = ProtectedOperation & { readonly access: { readonly review: AccessReview } };

function isReviewed(operation: Operation): operation is ReviewedOperation {
  if (!isProtected(operation)) return false;
  const { review } = operation.access;
  return typeof review === 'object' && 'resource' in review;
}

function toEntry(operation: ReviewedOperation): CatalogueEntry {
  const { review } = operation.access;
  const parameter = parameterOf(operation, review);
  const isNamed = parameter !== null || review.only !== undefined;
  return { operation, review, parameter, isNamed, team: teamOf(operation) };
}

function teamOf({ access: { scope, review } }: ReviewedOperation): CatalogueEntry['team'] {
  if (review.unscoped || scope === 'owned') return 'optional';
  return scope === 'team' ? 'required' : 'refused';
}

function parameterOf(operation: Operation, review: AccessReview): CatalogueEntry['parameter'] {
  const inPath = paramNamesOf(routeOf(operation).path);
  const name = review.parameter ?? inPath.at(-1);
  if (name === undefined) return null;
  if (!inPath.includes(name)) throw new Error(`${operation.id} is reviewed by ${name}, which is not in its path`);
  return { name, schema: (operation.params as Erased).shape[name] };
}

/** An operation may inherit only a review that exists. */
function refuseMissingReview(operation: Operation, operations: readonly Operation[]): void {
  if (isPublic(operation.access)) return;
  const { review } = operation.access;
  if (review === 'none' || !('inherits' in review)) return;
  const reviewed = operations.find(({ id }) => id === review.inherits);
  if (!reviewed || !isReviewed(reviewed))
    throw new Error(`${operation.id} inherits the review of ${review.inherits}, which has no review`);
}

function quote(text: string): string {
  return JSON.stringify(text.slice(0, 64));
}

function list(names: ReadonlyMap<string, unknown>): string {
  return [...names.keys()].sort().join(', ');
}
