import { z } from 'zod';
import { answerOf } from '#api/pipeline/fields.ts';
import { AnswerId, Time } from '#api/pipeline/schemas.ts';
import type { ResourceDetails } from '#domain/plugins/resources/store.ts';
import { restorationStates } from '#domain/plugins/restorations/model.ts';
import { resourceActions } from './actions.ts';
import { ownedParts } from './views.ts';

export const RestorationReceipt = z
  .object({
    id: AnswerId,
    revision: z.int().describe('The revision of the resource in the registry.'),
    eligibility_generation: z.int().describe('What was assigned under an earlier generation stays ended.'),
    audit_record_id: AnswerId,
  })
  .meta({ id: 'PluginRestorationReceipt' });

const RestorationView = z
  .object({
    state: z.enum(restorationStates),
    requested_at: Time,
    problem: z
      .object({ code: z.string(), message: z.string() })
      .nullable()
      .describe('Why it was refused: what its request was answered.'),
  })
  .meta({ id: 'PluginRestoration' });

const Root = z.object({ schema: z.string(), table: z.string(), key: z.string() });

export const ListedResourceView = z
  .object({
    id: AnswerId,
    installation_id: AnswerId,
    type: z.string(),
    name: z.string(),
    key: z.string(),
    roots: z.array(Root).describe('The tables that hold its data, in the rows with its key.'),
    team_id: AnswerId,
    project_id: AnswerId.nullable(),
    environment_id: AnswerId.nullable(),
    eligibility_generation: z.int(),
    created_at: Time,
    deleted_at: Time.nullable(),
    restoration: RestorationView.nullable().describe('The latest request to restore it; null if there was none.'),
    revision: z.int(),
    ...ownedParts,
  })
  .meta({ id: 'ListedPluginResource' });

export const ResourceView = z
  .object({ ...ListedResourceView.shape, actions: resourceActions.view })
  .meta({ id: 'PluginResource' });

export function viewResource(resource: ResourceDetails): z.input<typeof ListedResourceView> {
  return answerOf(ListedResourceView.shape, { ...resource, restoration: viewRestoration(resource.restoration) });
}

function viewRestoration(latest: ResourceDetails['restoration']) {
  if (!latest) return null;
  const { state, requestedAt, problem } = latest;
  return {
    state,
    requested_at: new Date(requestedAt).toISOString(),
    problem: problem && { code: problem.code, message: problem.message },
  };
}
