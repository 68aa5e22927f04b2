import type { Draft, FoundTemplate, MissingTemplate, TemplateCatalog } from './draft-parts.ts';
import { type Problem, pointer } from './problems.ts';

/** The templates of the nodes. Each template and version is looked up once. */
export async function findTemplates(
  { nodes, isReadable }: Pick<Draft, 'nodes' | 'isReadable'>,
  catalog: TemplateCatalog,
): Promise<{ templates: Map<string, FoundTemplate>; errors: Problem[] }> {
  const answers = new Map<string, FoundTemplate | MissingTemplate>();
  const templates = new Map<string, FoundTemplate>();
  const errors: Problem[] = [];
  for (const [key, { template, version }] of Object.entries(nodes)) {
    if (!isReadable(key, 'template') || !isReadable(key, 'version')) continue;
    const name = JSON.stringify([template, version]);
    const answer = answers.get(name) ?? (await catalog.find(template, version));
    answers.set(name, answer);
    if ('missing' in answer) {
      errors.push({ path: pointer('nodes', key, answer.missing), message: explainMissing[answer.missing] });
      continue;
    }
    if (answer.isArchived) {
      errors.push({
        path: pointer('nodes', key, 'template'),
        message: 'is an archived template: choose another, or restore it',
      });
    }
    templates.set(key, answer);
  }
  return { templates, errors };
}

const explainMissing: Readonly<Record<MissingTemplate['missing'], string>> = {
  template: 'is no template of this team or of the installation: name one by its slug or id',
  version:
    'is no version of this template that can be used: name one that is published, a range such as "^1.2", or "latest"',
};
