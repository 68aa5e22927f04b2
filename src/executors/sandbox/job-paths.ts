/** Paths as a job's programs see them. */
export interface JobPaths {
  /** The template's files; its programs start here. */
  readonly work: string;
  readonly home: string;
  readonly temporary: string;
  /** Files that the host wrote for the job in addition to the template's. */
  readonly input: string;
  /** The script that runs the job's steps. */
  readonly script: string;
  /** The socket to the host, which only the script's relay uses. */
  readonly relay: string;
}
