import { z } from 'zod';
import { AnswerId, Time } from '#api/pipeline/schemas.ts';

/** The fields that organizations, teams, projects and environments share. */
export const commonFields = {
  id: AnswerId,
  name: z.string(),
  slug: z.string(),
  revision: z.int(),
  created_at: Time,
  archived_at: Time.nullable(),
};

export interface Common {
  readonly id: string;
  readonly name: string;
  readonly slug: string;
  readonly revision: number;
  readonly createdAt: string;
  readonly archivedAt: string | null;
}

/** The common fields as a handler returns them. */
export type CommonAnswer = z.output<z.ZodObject<typeof commonFields>>;

export function viewCommon({ id, name, slug, revision, createdAt, archivedAt }: Common) {
  return { id, name, slug, revision, created_at: createdAt, archived_at: archivedAt };
}
