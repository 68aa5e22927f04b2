import { z } from 'zod';
import { read } from '#api/pipeline/operation.ts';
import { AnswerId } from '#api/pipeline/schemas.ts';
import { search, searchedKinds } from '#domain/search/search-store.ts';

const SearchResultView = z
  .object({
    kind: z.enum(searchedKinds),
    id: AnswerId,
    name: z.string(),
    context: z
      .string()
      .nullable()
      .describe('What tells it apart from others of the same name, such as the project of an environment.'),
    organization_id: AnswerId.nullable().describe("A team's organization; null for other kinds."),
  })
  .meta({ id: 'SearchResult' });

const SearchResultsView = z
  .object({
    results: z.array(SearchResultView),
    cut: z.array(z.enum(searchedKinds)).describe('The kinds of which there are more than these results.'),
  })
  .meta({ id: 'SearchResults' });

export const find = read({
  id: 'search.find',
  route: 'GET /api/v1/search',
  summary: 'Find things that you may read by their id or by a text in their name',
  description:
    'Runs are found by their id or idempotency key, and everything else by its id, or by a text in its name or short name, in any case. Resources of plugins ' +
    'are found by a text in their key, too. The first or the last six or more digits of an id are enough, as pages show them. What was deleted is not found. Users ' +
    'are found by administrators, also by their e-mail address. There are at most 10 results of each kind; `cut` says of which there are more. A longer text finds fewer.',
  query: z.strictObject({ q: z.string().trim().min(1).max(200) }),
  responses: { 200: SearchResultsView },
  access: {
    anyOf: ['workload:read'],
    scope: 'platform',
    hidden: 'not_found',
    review: { resource: 'search_results', verb: 'list' },
  },
  isCostly: () => true,
  handle: async ({ em, principal, query }) => {
    const { results, cut } = await search(em, principal, query.q);
    return {
      cut: [...cut],
      results: results.map(({ organizationId, ...result }) => ({ ...result, organization_id: organizationId })),
    };
  },
});
