import { z } from 'zod';
import { changesOf } from '#api/pipeline/fields.ts';
import { Version } from '#domain/registry/model.ts';
import { Id } from '#domain/shared/ids.ts';
import { ExpectedRevision } from '#domain/shared/revisions.ts';
import { Json } from '#domain/shared/values/json.ts';
import { maxInteger } from '#domain/shared/values/storable.ts';
import { ResourceName, Slug } from '#domain/tenancy/model.ts';

/** The bodies of requests about assemblies (docs/assemblies.md). */

/** The descriptive members of an assembly. */
export const assemblyBody = {
  name: ResourceName,
  slug: Slug.optional(),
  description: z.string().max(4_000).default(''),
};

export const CreateAssembly = z.strictObject({ team_id: Id, ...assemblyBody }).meta({ id: 'CreateAssembly' });

export const UpdateAssembly = z
  .strictObject({ ...changesOf(assemblyBody), ...ExpectedRevision })
  .meta({ id: 'UpdateAssembly' });

/** A draft may be sent as an object, or as text in YAML or JSON, which stays as it is with its comments. */
const DraftSpec = z
  .union([z.string(), z.record(z.string(), Json)], { error: 'expected an object, or its text in YAML or JSON' })
  .describe('An object, or its text in YAML or JSON. Text stays as it is, with its comments.');

export const SaveDraft = z
  .strictObject({
    spec: DraftSpec,
    expected_revision: z
      .int()
      .min(0)
      .max(maxInteger)
      .optional()
      .describe("The draft's revision that the change was made for. 0: there is no draft yet."),
  })
  .meta({ id: 'SaveAssemblyDraft' });

export const ValidateAssembly = z
  .strictObject({ spec: DraftSpec.optional().describe('What to check instead of the draft.') })
  .meta({ id: 'ValidateAssembly' });

export const PublishAssembly = z
  .strictObject({
    version: Version,
    changelog: z.string().max(20_000).default(''),
    ...ExpectedRevision,
  })
  .meta({ id: 'PublishAssembly' });
