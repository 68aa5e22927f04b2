/** Paths as the programs of a job see them. */
export interface Places {
  /** The template's files; where its programs start. */
  readonly work: string;
  readonly home: string;
  readonly temporary: string;
  /** Files that the host wrote for the job beside the template's. */
  readonly input: string;
  /** The script with the job's steps. */
  readonly script: string;
  /** The socket to the host; the script's relay alone uses it. */
  readonly relay: string;
}
