import semver from 'semver';
import { z } from 'zod';
import type { ApprovalRule } from '#domain/runs/model.ts';
import { Id } from '#domain/shared/ids.ts';
import { ResourceName, Slug } from '#domain/tenancy/model.ts';
import { TemplateApproval, TemplateSpec } from './spec.ts';

/** What clients say about templates and their versions (api.md of the design, *Registry*; product.md, *Templates*). */

const tagPattern = /^[a-z0-9](?:[a-z0-9._:/-]{0,61}[a-z0-9])?$/;
const Tag = z.string().regex(tagPattern, { error: 'expected 1-63 lowercase letters, digits and inner ". _ : / -"' });
const Tags = z
  .array(Tag)
  .max(20)
  .refine((tags) => new Set(tags).size === tags.length, { error: 'must not name a tag twice' });

export const CreateTemplate = z.strictObject({
  name: ResourceName,
  slug: Slug.optional(),
  description: z.string().max(4_000).default(''),
  /** Without a team, the template belongs to the installation. */
  team_id: Id.nullable().optional(),
  tags: Tags.default([]),
});
export type CreateTemplate = z.output<typeof CreateTemplate>;

export const UpdateTemplate = z.strictObject({
  name: ResourceName.optional(),
  slug: Slug.optional(),
  description: z.string().max(4_000).optional(),
  tags: Tags.optional(),
  expected_revision: z.int().min(1).optional(),
});
export type UpdateTemplate = z.output<typeof UpdateTemplate>;

const longestVersion = 64;

/**
 * A strict semantic version. Build metadata is refused: it has no place in the order of versions, so `1.0.0` and
 * `1.0.0+a` would be one version with two contents.
 */
export const Version = z
  .string()
  .max(longestVersion)
  .refine((text) => isExactVersion(text), {
    error: 'expected a semantic version such as "1.4.0" or "2.0.0-rc.1", without "v" and without build metadata',
  });

/** Whether a text is one version exactly as `Version` takes it, and no range. */
export function isExactVersion(text: string): boolean {
  return text.length <= longestVersion && semver.valid(text) === text;
}

export const PublishVersion = z.strictObject({
  version: Version,
  spec: TemplateSpec,
  changelog: z.string().max(20_000).default(''),
});
export type PublishVersion = z.output<typeof PublishVersion>;

/** Variables as a client gives them: which names and values are right is the version's schema to say. */
export const Variables = z.record(z.string(), z.json());
export const ValidateVersion = z.strictObject({ variables: Variables.default({}) });
export type ValidateVersion = z.output<typeof ValidateVersion>;

/** An environment's policy: what a template asks, and whether people may approve their own runs. */
export const ApprovalPolicy = TemplateApproval.extend({ allow_self: z.boolean().default(false) });
export type ApprovalPolicy = z.output<typeof ApprovalPolicy>;

/** Mildest first; `changes` and `always` ask alike. */
const strictness: Record<ApprovalRule, number> = { never: 0, destroys: 1, changes: 2, always: 2 };

/**
 * What holds where a template and an environment both have a policy: the larger `required`, the stricter `when`
 * (never < destroys < changes = always). Only an environment can let people approve their own runs.
 */
export function stricterApproval(
  template: TemplateApproval | null,
  environment: ApprovalPolicy | null,
): ApprovalPolicy {
  const policies = [template, environment].filter((policy) => policy !== null);
  return {
    required: Math.max(0, ...policies.map(({ required }) => required)),
    when: policies.reduce<ApprovalRule>(
      (strictest, { when }) => (strictness[when] > strictness[strictest] ? when : strictest),
      'never',
    ),
    allow_self: environment?.allow_self ?? false,
  };
}

/** Whether a policy protects less than another: in any one way, since a template's own policy may make up for the others. */
export function isWeakerApproval(policy: ApprovalPolicy, than: ApprovalPolicy): boolean {
  return (
    policy.required < than.required ||
    strictness[policy.when] < strictness[than.when] ||
    (policy.allow_self && !than.allow_self)
  );
}
