import { router } from 'framework'
import { textField } from '../input.ts'
import { member } from '../middlewares/member.ts'

router.group('/books', (books) => {
  books.get('/', (req) => {
    const { author } = req.query
    return req.library.books(typeof author === 'string' ? author : undefined)
  })

  books.get('/:id', (req) => req.library.book(req.params.id))

  books.post('/', { middlewares: [member] }, (req, res) => {
    const book = req.library.add({ title: textField(req.body, 'title'), author: textField(req.body, 'author') })
    res.header('location', `/books/${book.id}`).created(book)
  })
})
