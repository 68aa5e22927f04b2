import semver from 'semver';
import { z } from 'zod';
import type { ApprovalRule } from '#domain/runs/model.ts';
import { TemplateApproval, type TemplateSpec } from './spec.ts';

/** Templates and their versions (api.md of the design, *Registry*; product.md, *Templates*). */

const tagPattern = /^[a-z0-9](?:[a-z0-9._:/-]{0,61}[a-z0-9])?$/;
const Tag = z.string().regex(tagPattern, { error: 'expected 1-63 lowercase letters, digits and inner ". _ : / -"' });
export const Tags = z
  .array(Tag)
  .max(20)
  .refine((tags) => new Set(tags).size === tags.length, { error: 'must not name a tag twice' });

/** A template to be created. */
export interface NewTemplate {
  readonly name: string;
  /** Made from the name if it is absent. */
  readonly slug?: string | undefined;
  readonly description: string;
  readonly readme: string;
  readonly tags: string[];
}

/** Fields that are absent stay as they are. */
export interface TemplateChange {
  readonly name?: string | undefined;
  readonly slug?: string | undefined;
  readonly description?: string | undefined;
  readonly readme?: string | undefined;
  readonly tags?: string[] | undefined;
  /** Refuses the change if the template has another revision by now. */
  readonly expectedRevision?: number | undefined;
}

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

/** Whether a text is one version as `Version` accepts it, rather than a range. */
export function isExactVersion(text: string): boolean {
  return text.length <= longestVersion && semver.valid(text) === text;
}

/** A version to be published. */
export interface NewVersion {
  readonly version: string;
  readonly spec: TemplateSpec;
  readonly changelog: string;
}

/** An environment's policy: what a template may demand, and whether people may approve their own runs. */
export const ApprovalPolicy = TemplateApproval.extend({ allow_self: z.boolean().default(false) });
export type ApprovalPolicy = z.output<typeof ApprovalPolicy>;

/** A change of a policy; the members that it omits stay as they are. */
export const ApprovalPolicyChange = TemplateApproval.extend({ allow_self: z.boolean() }).partial();
export type ApprovalPolicyChange = z.output<typeof ApprovalPolicyChange>;

/** `changes` and `always` are equally strict. */
const strictness: Record<ApprovalRule, number> = { never: 0, destroys: 1, changes: 2, always: 2 };

/**
 * The policy of a run whose template and environment both have one: the larger `required` and the stricter `when`
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

/** The policy that protects most in every respect: what each of several policies demands, it demands as well. */
export function strictestPolicy(first: ApprovalPolicy, other: ApprovalPolicy | null): ApprovalPolicy {
  if (other === null) return first;
  return { ...stricterApproval(first, other), allow_self: first.allow_self && other.allow_self };
}

/** Whether a policy protects less than another in at least one way. Being stricter elsewhere does not compensate. */
export function isWeakerApproval(policy: ApprovalPolicy, than: ApprovalPolicy): boolean {
  return (
    policy.required < than.required ||
    strictness[policy.when] < strictness[than.when] ||
    (policy.allow_self && !than.allow_self)
  );
}
