import { z } from 'zod';
import { read } from '#api/pipeline/operation.ts';
import { ValueChangeView, viewValueChange } from '#api/pipeline/value-changes.ts';
import { compareStates, type StateComparison } from '#domain/instances/state/state-comparison.ts';
import { findInstance } from '#domain/instances/targets.ts';
import { findSecretsOfStates } from '#domain/runs/state-secrets/state-secrets.ts';
import { NotFound } from '#domain/shared/errors.ts';
import { wholeNumber } from '#domain/shared/values/whole-number.ts';
import { InstanceParams } from './operations.ts';
import { download } from './state-operations.ts';

const ComparisonView = z
  .object({
    from: z.int(),
    to: z.int(),
    changes: z.array(
      z.object({
        address: z.string(),
        action: z
          .enum(['create', 'update', 'delete', 'move'])
          .describe('`move`: the resource, told by its type and its `id`, had another address before.'),
        previous_address: z.string().nullable().describe('The address before a move. Null: it has not moved.'),
        attributes: z.array(ValueChangeView),
        omitted_attributes: z.int().describe('How many more of its values differ.'),
      }),
    ),
    omitted: z.int().describe('How many more resources differ.'),
    unchanged: z.int().describe('How many resources are the same in both.'),
    outputs: z
      .array(ValueChangeView)
      .describe('What differs between the outputs. The values of secret ones are masked.'),
    omitted_outputs: z.int().describe('How many more values of outputs differ.'),
  })
  .meta({ id: 'StateComparison' });

export const compare = read({
  id: 'instances.compare_states',
  route: 'GET /api/v1/instances/:id/state-comparison',
  summary: 'Compare the resources and outputs of two state versions of an instance',
  description:
    'It takes the same authority as to download the states, because values that no tool marks as sensitive may be secrets too. States of ' +
    'up to 8 MiB are compared.',
  params: InstanceParams,
  query: z.strictObject({ from: wholeNumber({ min: 1 }), to: wholeNumber({ min: 1 }) }),
  responses: { 200: ComparisonView },
  access: { ...download.access, review: { inherits: 'instances.download_state' } },
  target: findInstance,
  targetName: 'instance',
  audit: 'instance.states_compared',
  isCostly: () => true,
  handle: async ({ em, params, query, services }) => {
    const comparison = await compareStates(em, services.keyRing, params.id, query, findSecretsOfStates);
    if (!comparison) throw new NotFound('state version');
    return { ...query, ...viewComparison(comparison) };
  },
});

function viewComparison({ changes, omitted, unchanged, outputs, omittedOutputs }: StateComparison) {
  const shown = changes.map(({ omittedAttributes, attributes, previousAddress, ...change }) => ({
    ...change,
    previous_address: previousAddress,
    attributes: attributes.map(viewValueChange),
    omitted_attributes: omittedAttributes,
  }));
  return {
    ...{ changes: shown, omitted, unchanged },
    outputs: outputs.map(viewValueChange),
    omitted_outputs: omittedOutputs,
  };
}
