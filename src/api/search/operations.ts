import { z } from 'zod';
import { read } from '#api/pipeline/operation.ts';
import { AnswerId } from '#api/pipeline/schemas.ts';
import { viewWaitingCode, WaitingCodeView } from '#api/runs/waiting-code-view.ts';
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
    parent_id: AnswerId.nullable().describe(
      'What it is part of: the organization of a team, the instance of a resource, the template of a version, and for a person whom you know from an ' +
        'organization that organization. Null for everything else.',
    ),
    status_reason: z.string().nullable().describe('Why a run ended without success; null for other kinds.'),
    waiting_on: WaitingCodeView.nullable().describe('What a run waits for; null for other kinds.'),
    message: z.string().nullable().describe('The message of a run; null for other kinds.'),
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
    'Every `kind` of result is found by its id, and by a text in its name or slug, in any case; except for resources of instances, also by ' +
    'the first or last six or more digits of the id, as pages show them. Runs are ' +
    'also found by their idempotency key, their message and the name of their instance, resources by their address, versions of templates by the beginning of their number, after the ' +
    "template's name or alone, resources of plugins by their key, drift monitors by the name of what they watch, and people by their e-mail address. The address of a page finds what it shows. Messages and addresses are searched from the " +
    'beginning of a word on. People and service accounts are those of your organizations, and the service accounts that you may manage; those who manage users find all users. What was deleted is not ' +
    'found, and neither are drift findings, attempts of an undo and runs of assemblies. There are at most 10 results of each kind; `cut` says of which there are more. A longer text finds fewer. Searches of one person ' +
    'and their service accounts run one after another.',
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
      results: results.map(({ kind, id, name, context, parentId, excerpt, statusReason, waitingOn }) => ({
        kind,
        id,
        name,
        context,
        organization_id: kind === 'team' ? parentId : null,
        parent_id: parentId,
        status_reason: statusReason ?? null,
        waiting_on: viewWaitingCode(waitingOn),
        message: excerpt ?? null,
      })),
    };
  },
});
