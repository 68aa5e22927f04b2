export const environmentKinds = ['development', 'staging', 'production'] as const;
export type EnvironmentKind = (typeof environmentKinds)[number];

/** `template`: a default for the template's variable of that name; `env`: an environment variable of the run's tools. */
export const variableCategories = ['template', 'env'] as const;
export type VariableCategory = (typeof variableCategories)[number];
