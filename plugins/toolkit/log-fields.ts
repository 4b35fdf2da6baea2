/** Fields for a line of the log: of the work during which it is written, or of a request that is over. */
export type LogFields = (request?: object) => Readonly<Record<string, string>> | undefined

const sources: LogFields[] = []

/** Adds fields to the lines of the log from now on; gives what ends it. */
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

/** What gives the fields, `undefined` where nothing adds some, so that without it a line costs nothing. */
export function logFields(): LogFields | undefined {
  return sources.length === 0 ? undefined : fieldsOf
}
