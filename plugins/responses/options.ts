import { checkOptions, OptionError, quoted } from '../../kernel/index.ts'

/** Options of the response schemas. */
export interface ResponsesOptions {
  /** Turn numbers into text and text into numbers where the schema asks for it, in place of a 500. Default false. */
  coerce?: boolean
}

export function strictnessOf(options: ResponsesOptions = {}): { coerce: boolean } {
  checkOptions('responses', options, ['coerce'])
  const { coerce = false } = options
  if (typeof coerce !== 'boolean') throw OptionError('responses.coerce', quoted(coerce), 'true or false')
  return { coerce }
}
