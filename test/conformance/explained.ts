/** Differences that are meant: by the end of a configuration's name, why the service does something else than the bare tool. */
export const explained: Readonly<Record<string, string>> = {
  '/backend-unset':
    'the directory holds a record of another backend from an earlier init, which is not part of a version',
};
