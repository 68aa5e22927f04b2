import type { CatalogueEntry } from '#api/pipeline/catalogue.ts';
import { catalogueOf } from '#api/pipeline/catalogue.ts';
import type { FoundTarget } from '#api/pipeline/invocation/invocation.ts';
import type { JoinableTarget, TargetInput } from '#api/pipeline/joinable-target.ts';
import type { LookupById } from '#domain/db.ts';
import { installationOwnership, type Ownership } from '#domain/shared/access/decide.ts';
import { findTeamById } from '#domain/teams/store.ts';
import type { ResourceAttributes } from './access-review.ts';

/** The target of a review. Nobody owns the review itself. Its answer depends on the owner of what the question names. */
export interface Reviewed extends Ownership {
  /** What the statement that read the caller has found; undefined if that statement looked nothing up. */
  readonly found: FoundTarget | undefined;
}

interface Question {
  readonly body: { readonly resource_attributes: ResourceAttributes };
}

type QuestionInput = Pick<TargetInput<undefined, undefined, Question['body']>, 'body' | 'operations'>;

/** The target of the operation `can-i`: what the question names, read together with the caller if one lookup by id finds it. */
export const reviewed: JoinableTarget<Question, QuestionInput, Reviewed> = Object.assign(
  async () => ({ ...installationOwnership, found: undefined }),
  {
    queryOf: ({ body: { resource_attributes: question }, operations }: QuestionInput) => {
      const entry = catalogueOf(operations).findOptional(question.resource, question.verb);
      const named = entry && lookupFor(entry, question);
      return named && { query: named.lookup.query, parameters: { id: named.id } };
    },
    fromRow: async (row: object | undefined) => ({ ...installationOwnership, found: { row } }),
  },
);

interface NamedLookup {
  readonly lookup: LookupById<object>;
  readonly id: string;
}

/** The lookup by id that finds what a question names; undefined if it takes more, or if the question is malformed. */
function lookupFor(entry: CatalogueEntry, { name, team_id: teamId }: ResourceAttributes): NamedLookup | undefined {
  if (!entry.isNamed) return entry.team !== 'refused' && teamId ? { lookup: findTeamById, id: teamId } : undefined;
  const id = entry.parameter?.schema.safeParse(name);
  const { target } = entry.review;
  return id?.success && target && 'query' in target
    ? { lookup: target as LookupById<object>, id: id.data as string }
    : undefined;
}
