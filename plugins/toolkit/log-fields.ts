/** Fields for a line of the log: of the work during which it is written, or of a request that is over. */
export type LogFields = (request?: object) => Readonly<Record<string, string>> | undefined

const sources: LogFields[] = []

/** Adds fields to the lines of the log from now on; returns a function that ends that. Loggers that were made before do not use them. */
export function addLogFields(source: LogFields): () => void {
  sources.push(source)
  return () => void sources.splice(sources.indexOf(source), 1)
}

const fieldsOf: LogFields = (request) => {
  for (const source of sources) {
    const fields = source(request)
    if (fields !== undefined) return fields
  }
  return undefined
}

/** The source of the fields, `undefined` where nothing adds any: read when a logger is made, so that without it a line costs nothing. */
export function logFields(): LogFields | undefined {
  return sources.length === 0 ? undefined : fieldsOf
}
