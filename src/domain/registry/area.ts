import { TemplateCheckSchema } from './checks/entity.ts';
import { TemplateSchema, TemplateSecretOutputSchema, TemplateVersionSchema } from './entity.ts';
import { templateEvents } from './events.ts';
import { VersionModulesSchema } from './kept-modules/entity.ts';
import { registryKinds } from './ownership.ts';

export const entities = [
  TemplateSchema,
  TemplateVersionSchema,
  TemplateSecretOutputSchema,
  TemplateCheckSchema,
  VersionModulesSchema,
] as const;
export const ownership = registryKinds;
export const events = templateEvents;
