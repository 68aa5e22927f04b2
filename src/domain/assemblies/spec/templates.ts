import { nearest, suggest } from '#domain/shared/values/near-names.ts';
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
  const explain = explainOnce(catalog);
  for (const [key, { template, version }] of Object.entries(nodes)) {
    if (!isReadable(key, 'template') || !isReadable(key, 'version')) continue;
    const name = JSON.stringify([template, version]);
    const answer = answers.get(name) ?? (await catalog.find(template, version));
    answers.set(name, answer);
    if ('missing' in answer) {
      const message = answer.missing === 'template' ? await explain(template) : versionMissing;
      errors.push({ path: pointer('nodes', key, answer.missing), message });
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

const versionMissing =
  'is no version of this template that can be used: name one that is published, a range such as "^1.2", or "latest"';

const templateMissing = 'is no template of this team or of the installation';

/** The maximum number of unknown names that get a suggestion, because searching for one takes time. */
const maxSuggestions = 20;

/** Explains unknown templates, each name once. */
function explainOnce(catalog: TemplateCatalog): (name: string) => Promise<string> {
  const explained = new Map<string, string>();
  return async (name) => {
    const known = explained.get(name);
    if (known !== undefined) return known;
    const slugs = explained.size < maxSuggestions ? await catalog.listSlugs() : [];
    const hint = nearest(name, slugs) === undefined ? ': name one by its slug or id' : '';
    const message = `${templateMissing}${hint}${suggest(name, slugs)}`;
    explained.set(name, message);
    return message;
  };
}
