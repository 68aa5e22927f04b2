import { defineEntity, p } from '@mikro-orm/core';
import { at, createdAt, id, revision } from '#database/columns.ts';
import { Team } from '#domain/teams/entity.ts';

export const ProjectSchema = defineEntity({
  name: 'Project',
  tableName: 'projects',
  uniques: [
    {
      name: 'projects_team_slug_unique',
      expression:
        'create unique index "projects_team_slug_unique" on "projects" ("team_id", "slug") where "deleted_at" is null',
    },
  ],
  properties: {
    id: id(),
    teamId: () => p.manyToOne(Team).mapToPk().fieldName('team_id').deleteRule('restrict'),
    name: p.string(),
    slug: p.string(),
    description: p.text().default(''),
    eligibilityGeneration: p.integer().default(1),
    revision: revision(),
    createdAt: createdAt(),
    archivedAt: at().nullable(),
    deletedAt: at().nullable(),
  },
});
export class Project extends ProjectSchema.class {}
ProjectSchema.setClass(Project);
