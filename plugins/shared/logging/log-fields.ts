/** Returns fields for a log line: those of the work during which it is written, or of a request that is over. */
export type LogFields = (request?: object) => Readonly<Record<string, string>> | undefined

const sources: LogFields[] = []

/** Adds fields to the log lines from now on; returns a function that ends this. */
export function addLogFields(source: LogFields): () => void {
  sources.push(source)
  return () => void sources.splice(sources.indexOf(source), 1)
}

const fieldsOf: LogFields = (request) => Object.assign({}, ...sources.map((source) => source(request)))

/** The function that returns the fields; `undefined` if nothing adds any, so that a line then costs nothing. */
export const logFields = (): LogFields | undefined => (sources.length === 0 ? undefined : fieldsOf)
