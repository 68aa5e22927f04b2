import { templateCandidates } from './candidates-store.ts';
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

export const errorCodes = {
  variables_invalid: 'The variables do not fit the schema of the template.',
  configuration_invalid: 'The files of the template cannot work, or contradict its spec; `errors` lists each problem.',
  schema_too_costly: 'The schema of the template takes too long to evaluate.',
  template_of_other_team: 'The template belongs to another team than the environment.',
  version_published: 'The version is published with other content.',
  version_unknown: 'The template or assembly has no version that fits and was not yanked.',
  version_malformed: 'The text is neither a version nor a range of versions.',
  tool_not_allowed: 'The settings of the installation do not allow the tool that the template or the instance needs.',
} as const;
export const searched = { template: templateCandidates };
export const named = { templates: {} };
