import semver from 'semver';
import { z } from 'zod';
import type { TemplateSpec } from './spec.ts';

/** Templates and their versions (docs/writing-templates.md). */

const tagPattern = /^[a-z0-9](?:[a-z0-9._:/-]{0,61}[a-z0-9])?$/;
const Tag = z.string().regex(tagPattern, { error: 'expected 1-63 lowercase letters, digits and inner ". _ : / -"' });
export const Tags = z
  .array(Tag)
  .max(20)
  .refine((tags) => new Set(tags).size === tags.length, { error: 'must not name a tag twice' });

/** A template to be created. */
export interface NewTemplate {
  readonly name: string;
  /** Derived from the name if it is absent. */
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
  /** The change is refused if the template now has another revision. */
  readonly expectedRevision?: number | undefined;
}

const maxVersionLength = 64;

/**
 * A strict semantic version. Build metadata is refused: it does not affect the order of versions, so `1.0.0` and `1.0.0+a` would be the
 * same version with different contents.
 */
export const Version = z
  .string()
  .max(maxVersionLength)
  .refine((text) => isExactVersion(text), {
    error: 'expected a semantic version such as "1.4.0" or "2.0.0-rc.1", without "v" and without build metadata',
  });

/** Whether a text is one version as `Version` accepts it, rather than a range. */
export function isExactVersion(text: string): boolean {
  return text.length <= maxVersionLength && semver.valid(text) === text;
}

/** A version to be published. */
export interface NewVersion {
  readonly version: string;
  readonly spec: TemplateSpec;
  readonly changelog: string;
}
