import { z } from 'zod';
import { changeActions, type ResourceChange } from '#domain/runs/plans/model.ts';
import { Json } from '#domain/shared/values/json.ts';

/** A planned change of a resource, as the API shows it. */

const Path = z
  .array(z.union([z.string(), z.number()]))
  .describe('Names of attributes, keys of maps, and positions in lists; empty for the whole resource.');
const unknownIfNull = 'Null: the tool does not say.';

export const ChangeView = z
  .object({
    address: z.string(),
    type: z.string().nullable(),
    action: z
      .enum(changeActions)
      .describe('`forget`: no longer managed, and not destroyed. `no-op`: moved or imported as it is.'),
    previous_address: z.string().nullable().describe('The address from which the resource is moved.'),
    imported: z
      .object({ id: z.string().nullable().describe('The id by which the tool finds it. Null while it is not known.') })
      .nullable()
      .describe('The resource exists already, and is taken into the state.'),
    action_reason: z.string().nullable().describe('Why the tool chose the action, such as `replace_because_tainted`.'),
    replace_paths: z.array(Path).nullable().describe(`The values that force the replacement. ${unknownIfNull}`),
    after_unknown: z
      .array(Path)
      .nullable()
      .describe(`The values that are known only after the apply. ${unknownIfNull}`),
    sensitive: z
      .array(z.object({ path: Path, changed: z.boolean() }))
      .nullable()
      .describe(`The secret values, each with whether it changes. ${unknownIfNull}`),
    before: Json,
    after: Json,
  })
  .meta({ id: 'PlannedChange' });

export function viewChange(change: ResourceChange): z.input<typeof ChangeView> {
  const { address, type = null, action, imported = null, before, after } = change;
  const { previousAddress = null, actionReason = null } = change;
  const { replacePaths = null, unknownPaths = null, sensitivePaths = null } = change;
  return {
    address,
    type,
    action,
    previous_address: previousAddress,
    imported,
    action_reason: actionReason,
    replace_paths: replacePaths,
    after_unknown: unknownPaths,
    // Without its digest: a reader who has one could learn when a secret gets an earlier value again.
    sensitive: sensitivePaths?.map(({ path, changed }) => ({ path, changed })) ?? null,
    before,
    after,
  };
}
