/** When something that others relied on ended, and who brought that about. */
export interface EndRecord {
  readonly at: string;
  /** Null: nobody wrote that down. */
  readonly by: string | null;
}
