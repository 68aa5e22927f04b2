/** What an area declares of something that the service does by itself and records in the audit. */
export interface DeclaredAction {
  /** What the service does. */
  readonly summary: string;
  readonly resourceType: string;
  /** The part of the service that does it: the name of the actor in the audit. */
  readonly actor: string;
}
