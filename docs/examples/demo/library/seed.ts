import type { Library } from './library.ts'

const books = [
  { title: 'The Dispossessed', author: 'Ursula K. Le Guin' },
  { title: 'The Left Hand of Darkness', author: 'Ursula K. Le Guin' },
  { title: 'Invisible Cities', author: 'Italo Calvino' },
]

/** Gives an empty library its first books. */
export function seed(library: Library): void {
  if (library.books().length > 0) return
  for (const book of books) library.add(book)
}
