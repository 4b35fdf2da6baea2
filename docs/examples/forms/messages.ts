import type { ValidationIssue } from 'framework'

type Messages = { readonly [keyword: string]: string }

/** The messages of each language, by the keyword of the rule; a member has its own, if it needs one. */
const languages: { readonly [language: string]: Messages } = {
  en: {
    required: 'Please fill this in.',
    minLength: 'Please fill this in.',
    'seats minimum': 'Book at least one seat.',
    'guests/name required': 'Name each guest.',
  },
  de: {
    required: 'Bitte ausfüllen.',
    minLength: 'Bitte ausfüllen.',
    format: 'Das ist keine Adresse.',
    'seats minimum': 'Buchen Sie mindestens einen Platz.',
  },
}

/** The message of one mistake; `undefined` keeps that of the validator. */
export function wordsFor({ path, keyword }: ValidationIssue, language = 'en'): string | undefined {
  const messages = languages[language.slice(0, 2)] ?? {}
  // Without the indices: all items of a list have the same message.
  const member = path.slice(1).replace(/\/\d+(?=\/|$)/g, '')
  return messages[`${member} ${keyword}`] ?? messages[keyword]
}
