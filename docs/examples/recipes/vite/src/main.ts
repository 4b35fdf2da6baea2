const res = await fetch('/api/books')
const books: { title: string }[] = await res.json()
document.querySelector('#app')!.textContent = books.map(({ title }) => title).join(', ')
export {}
