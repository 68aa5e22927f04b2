import { z } from 'zod';
import type { ActionContext } from '#api/pipeline/actions.ts';
import { command, read } from '#api/pipeline/operation.ts';
import { AnswerId } from '#api/pipeline/schemas.ts';
import { type ReadersDetails, readReaders, setReaders } from '#domain/instances/readers/readers.ts';
import type { InstanceTarget } from '#domain/instances/store.ts';
import { findInstance } from '#domain/instances/targets.ts';
import { NotFound } from '#domain/shared/errors.ts';
import { readersActions } from './actions.ts';
import { SetReaders } from './bodies.ts';
import { accessReview, InstanceParams, readAccess } from './operations.ts';

const ReadersView = z
  .object({
    team_ids: z.array(AnswerId).describe('Every run of these teams may read the outputs.'),
    environment_ids: z.array(AnswerId).describe('Every run in these environments may.'),
    void: z
      .boolean()
      .describe(
        'A transfer brought the instance to other owners since, so its outputs cannot be read until they allow it.',
      ),
    revision: z.int().describe('Of the instance.'),
    actions: readersActions.view,
  })
  .meta({ id: 'InstanceReaders' });

function showReaders(
  context: ActionContext,
  instance: InstanceTarget,
  { teamIds, environmentIds, areVoid, revision }: ReadersDetails,
): z.input<typeof ReadersView> {
  const actions = readersActions.describe(context, instance);
  return { team_ids: [...teamIds], environment_ids: [...environmentIds], void: areVoid, revision, actions };
}

export const getReaders = read({
  id: 'instances.get_readers',
  route: 'GET /api/v1/instances/:id/readers',
  summary: 'Read whose runs may read the outputs of an instance',
  params: InstanceParams,
  responses: { 200: ReadersView },
  access: { ...readAccess, review: { inherits: 'instances.get' } },
  target: findInstance,
  targetName: 'instance',
  handle: async ({ em, params, target, ...context }) => {
    const readers = await readReaders(em, params.id);
    if (!readers) throw new NotFound('instance');
    return showReaders(context, target, readers);
  },
});

export const replaceReaders = command({
  id: 'instances.set_readers',
  route: 'PUT /api/v1/instances/:id/readers',
  summary: 'Say whose runs may read the outputs of an instance, secret ones included; it replaces both lists',
  description:
    'Runs name an output as `${instances.<environment>/<name>.outputs.<output>}`. Teams and environments are of the organization of the instance. ' +
    'What is taken off the list is refused to runs from then on, also to those that wait. What runs were given before stays with them.',
  params: InstanceParams,
  body: SetReaders,
  responses: { 200: ReadersView },
  at: getReaders,
  access: {
    ...readAccess,
    anyOf: ['environment:write'],
    teamAction: 'team.metadata.write',
    installation: 'administrators',
    review: { ...accessReview, verb: 'set_readers' },
  },
  target: findInstance,
  targetName: 'instance',
  idempotency: 'none',
  audit: 'instance.readers_changed',
  handle: async ({ tx, target, body }) => {
    const wanted = { teamIds: body.team_ids, environmentIds: body.environment_ids };
    const { difference, revision } = await setReaders(tx, target, wanted, body.expected_revision);
    const { before, after } = difference;
    return { id: target.id, before, after, revision };
  },
});
