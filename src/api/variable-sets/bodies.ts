import { z } from 'zod';
import { changesOf } from '#api/pipeline/fields.ts';
import { namesOneOwner, ownerFields } from '#api/pipeline/owned.ts';
import { Id } from '#domain/shared/ids.ts';
import { ExpectedRevision } from '#domain/shared/revisions.ts';
import { ResourceName } from '#domain/tenancy/model.ts';
import { maxAttachments } from '#domain/variable-sets/attach.ts';

/** The bodies of requests about variable sets. */

/** The descriptive members of a set. */
export const variableSetBody = { name: ResourceName, description: z.string().max(1000).default('') };

export const CreateVariableSet = z
  .strictObject({ ...variableSetBody, ...ownerFields })
  .check(namesOneOwner)
  .meta({ id: 'CreateVariableSet' });

export const UpdateVariableSet = z
  .strictObject({ ...changesOf(variableSetBody), ...ExpectedRevision })
  .meta({ id: 'UpdateVariableSet' });

const ids = z
  .array(Id)
  .max(maxAttachments)
  .refine((given) => new Set(given).size === given.length, { error: 'must not name one twice' });

export const ReplaceAttachments = z
  .strictObject({
    project_ids: ids.describe('All environments of these projects get the variables.'),
    environment_ids: ids,
    ...ExpectedRevision,
  })
  .meta({ id: 'ReplaceVariableSetAttachments' });

export function toAttachments(body: z.output<typeof ReplaceAttachments>) {
  const { project_ids, environment_ids, expected_revision: expectedRevision } = body;
  return { projectIds: [...project_ids].sort(), environmentIds: [...environment_ids].sort(), expectedRevision };
}
