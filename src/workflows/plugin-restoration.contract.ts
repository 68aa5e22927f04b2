/** The input of the workflow that restores a resource of a plugin. */
export interface PluginRestorationInput {
  readonly restoration_id: string;
}
