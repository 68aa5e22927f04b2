import { projectCandidates } from './candidates-store.ts';
import { ProjectSchema } from './entity.ts';
import { projectKinds } from './ownership.ts';

export const entities = [ProjectSchema] as const;
export const ownership = projectKinds;
export const searched = { project: projectCandidates };
export const named = { projects: {} };
