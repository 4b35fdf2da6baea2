import { option, type SettingsOf } from '../shared/options/index.ts'

/** Options of the inspector. */
export interface InspectorOptions {
  /** The path of its page. Default `/_inspector`. */
  path?: string
  /** How many entries of each kind it keeps: requests, jobs, emails and so on. Default 500, which is also the maximum. */
  keep?: number
  /** Bytes that it keeps of a body; a request with a larger body cannot be replayed. Default 64 kB, at most 4 MB. */
  bodyLimit?: number | string
  /** Names of fields, headers and parameters to redact, in addition to those that are always redacted. */
  redact?: readonly string[]
}

/** A body beyond the limit of all kept data would displace everything, including itself. */
const maxBody = 4 * 1024 * 1024

export const inspectorOptions = option
  .shape({
    path: option
      .name(/^(?:\/[\w.~-]+)+$/, 'a path that begins with "/", of letters, digits, "-", "_", "." and "~"')
      .default('/_inspector'),
    keep: option.int({ min: 1, max: 500 }).default(500),
    bodyLimit: option.size().default(64 * 1024),
    redact: option.list(option.name()).says('a list of names, such as ["iban"]').default([]),
  })
  .into((given, place) => {
    if (given.bodyLimit > maxBody)
      place.in('bodyLimit').wrong(String(given.bodyLimit), `at most ${maxBody} bytes: all that is kept has 32 MB`)
    return given
  })
  .typed<InspectorOptions>()

export type InspectorSettings = SettingsOf<typeof inspectorOptions>
