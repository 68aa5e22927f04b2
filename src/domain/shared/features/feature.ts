/** An area that an administrator can turn off. It is declared in `feature.ts` of the area. */
export interface Feature {
  /** The name of the feature for people, in the form that begins a sentence. */
  readonly title: string;
  /** The first parts of the ids of its operations, or whole ids of operations whose resource is not its own. */
  readonly operations: readonly string[];
  /** The kinds of search results that belong to it; by default none. */
  readonly searched?: readonly string[];
}
