import { z } from 'zod';
import { changesOf } from '#api/pipeline/fields.ts';
import { Tags, Version } from '#domain/registry/model.ts';
import { checkModuleSource, moduleSource, TemplateSpec } from '#domain/registry/spec.ts';
import { Id } from '#domain/shared/ids.ts';
import { ExpectedRevision } from '#domain/shared/revisions.ts';
import { Json } from '#domain/shared/values/json.ts';
import { ResourceName, Slug } from '#domain/tenancy/model.ts';
import { WantedTool } from '#domain/tools/model.ts';

/** The bodies of requests about templates and their versions (docs/writing-templates.md). */

const maxReadmeLength = 256 * 1024;
const Readme = z
  .string()
  .refine((text) => Buffer.byteLength(text) <= maxReadmeLength, { error: 'must have at most 256 KiB' })
  .describe('Markdown for people who choose and use the template.');

/** The descriptive members of a template. */
const template = {
  name: ResourceName,
  slug: Slug.optional(),
  description: z.string().max(4_000).default(''),
  readme: Readme.default(''),
  tags: Tags.default([]),
};

/** Without a team, the template belongs to the installation. */
export const CreateTemplate = z
  .strictObject({ ...template, team_id: Id.nullable().optional() })
  .meta({ id: 'CreateTemplate' });

export const UpdateTemplate = z
  .strictObject({ ...changesOf(template), ...ExpectedRevision })
  .meta({ id: 'UpdateTemplate' });

const derive = z
  .boolean()
  .default(false)
  .describe(
    'Completes variables and outputs of the spec from the files, and the readme of a template that has none. What the spec says itself takes precedence.',
  );

const checkEnvironment = Id.nullable()
  .default(null)
  .describe(
    "An environment whose connections open private modules to the check. You need connection:use there; of a team's template, it must be one of that team.",
  );

export const PublishVersion = z
  .strictObject({
    version: Version,
    spec: TemplateSpec,
    derive,
    check_environment_id: checkEnvironment,
    changelog: z.string().max(20_000).default(''),
  })
  .meta({ id: 'PublishVersion' });

export const CheckVersion = z
  .strictObject({ spec: TemplateSpec, derive, check_environment_id: checkEnvironment })
  .meta({ id: 'CheckVersion' });

export const ProposeSpec = z
  .strictObject({
    ...moduleSource,
    /** The owner of the template, whose connections may open the repository. Without a team: the installation. */
    team_id: Id.nullable().optional(),
    tool: WantedTool.optional().describe('As which tool the files are read, where both may run them.'),
  })
  .superRefine(checkModuleSource)
  .meta({ id: 'ProposeSpec' });

export const YankVersion = z
  .strictObject({ reason: z.string().trim().max(1_000).default('') })
  .meta({ id: 'YankVersion' });

/** The names and values are checked against the schema of the version. */
const Variables = z.record(z.string(), Json);
export const ValidateVersion = z.strictObject({ variables: Variables.default({}) }).meta({ id: 'ValidateVariables' });
