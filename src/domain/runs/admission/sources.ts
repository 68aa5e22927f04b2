import type { VariableCategory, VariableSource } from '#domain/variables/model.ts';
import type { RunInputs } from './inputs.ts';

/** The source of a variable that its run shows. Variables that the request itself named have no entry. */
export interface ShownSource extends VariableSource {
  readonly variable: string;
  readonly category: VariableCategory;
}

/**
 * The sources of the template variables that a run did not name itself, by name: its deployment, else its environment. The deployment takes
 * precedence.
 */
export function sourcesOf(
  given: Readonly<Record<string, { readonly source: VariableSource }>>,
  deployment: RunInputs | undefined,
  requested: Readonly<Record<string, unknown>>,
): Record<string, VariableSource> {
  const ofEnvironment = Object.entries(given).map(([name, { source }]) => [name, source] as const);
  const inherited = Object.keys(deployment?.variables ?? {});
  const isInherited = ([name]: readonly [string, VariableSource]) => inherited.includes(name);
  const isOverridden = (name: string) => Object.hasOwn(requested, name);
  const sources = ofEnvironment.filter((each) => !isInherited(each));
  const ofDeployment = Object.entries(deployment?.sources ?? {}).filter(isInherited);
  return Object.fromEntries([...sources, ...ofDeployment].filter(([name]) => !isOverridden(name)));
}

/** The sources that a run shows, by category and name. */
export function showSources({ variables, sources = {}, environment }: RunInputs): ShownSource[] {
  const ofTemplate = Object.entries(sources)
    .filter(([name]) => Object.hasOwn(variables, name))
    .map(([variable, source]): ShownSource => ({ variable, category: 'template', ...source }));
  const ofTools = environment.flatMap(({ name, source }): ShownSource[] =>
    source ? [{ variable: name, category: 'env', ...source }] : [],
  );
  return [...ofTemplate, ...ofTools];
}
