/** When something ended that others relied on, and who ended it. */
export interface EndRecord {
  readonly at: string;
  /** Null: it was not recorded. */
  readonly by: string | null;
}
