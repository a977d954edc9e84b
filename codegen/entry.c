/* The call of a compiled kernel from Python: checks the arguments and calls the library, with the GIL released.

   A Caller knows a kernel's signature as a row of slots. One call checks each argument against its slot, lays the
   addresses and sizes out as the packed ABI wants them (see caller.py) and calls. Whatever is wrong, this file says
   nothing about it: it hands the arguments to one Python function, `explain`, which finds the reason and raises,
   or takes the call over. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#define NPY_NO_DEPRECATED_API NPY_1_7_API_VERSION
#include <numpy/arrayobject.h>
#include <numpy/arrayscalars.h>
#include "overlap.c"

/* Signatures up to these sizes are called without touching the heap. */
#define SMALL_POINTERS 16
#define SMALL_SIZES 32

/* The statuses of the ABI; REFUSED is ours: the arguments never reached the library. */
enum { FINE = 0, TURNED = 5, REFUSED = -1 };

typedef int32_t (*Entry)(void *const *pointers, const int64_t *sizes);
typedef int32_t (*Results)(const int64_t *sizes, void *const *pointers, int64_t *result_sizes);
typedef int32_t (*Threads)(int32_t threads);

typedef union {
    int64_t i64;
    uint64_t u64;
    int32_t i32;
    uint32_t u32;
    int16_t i16;
    uint16_t u16;
    int8_t i8;
    uint8_t u8;
    double f64;
    float f32;
    double c128[2];
    float c64[2];
    char f16[2];
} Scalar;

typedef struct {
    char kind; /* NumPy's letter: b, i, u, f or c; E is bfloat16, of which arrays hold the bits, and scalars are floats */
    char is_array;
    char written;
    char strided; /* whether its strides are passed, too, in elements */
    int width; /* bytes of an element */
    int type_num;
    int rank;
} Slot;

typedef struct caller {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    Entry entry;
    Results results; /* NULL when no result is an array */
    Threads threads; /* tells OpenMP a number of threads, gives the one before; NULL when no loop runs on several */
    const int32_t *of_process; /* the number that is wanted in this process; 0 leaves it to OpenMP */
    PyObject *of_context;      /* a variable with the number that is wanted in this context, or None */
    Py_ssize_t argument_count;
    Py_ssize_t result_count;
    Py_ssize_t size_count; /* of all arguments, the ranks added up, those of strided ones twice */
    Py_ssize_t result_size_count; /* the ranks of all results */
    Slot *slots;        /* the arguments, then the results */
    PyObject *names;    /* a tuple of str, one for each argument */
    PyObject *explain;  /* (status, arguments, keywords) -> raises, or (answer,), or that and the Caller that turned has */
    struct caller *turned; /* takes calls of which all strided arrays lie in Fortran order; NULL before there is one */
    PyObject *is_plain; /* whether a subclass of ndarray keeps all its meaning in its data */
} Caller;

/* What one call works on; small signatures live on the C stack. */
typedef struct {
    void **pointers;
    Scalar *scalars;
    PyObject **made; /* the results, as they are made */
    int64_t *sizes;
    int64_t *result_sizes;
    void *heap;
    void *small_pointers[SMALL_POINTERS];
    Scalar small_scalars[SMALL_POINTERS];
    PyObject *small_made[SMALL_POINTERS];
    int64_t small_sizes[SMALL_SIZES];
} Frame;

static int frame_open(Frame *frame, const Caller *self)
{
    size_t count = (size_t)(self->argument_count + self->result_count);
    size_t sizes = (size_t)(self->size_count + self->result_size_count);
    if (count <= SMALL_POINTERS && sizes <= SMALL_SIZES) {
        frame->heap = NULL;
        frame->pointers = frame->small_pointers;
        frame->scalars = frame->small_scalars;
        frame->made = frame->small_made;
        frame->sizes = frame->small_sizes;
    } else {
        char *heap = PyMem_Malloc(count * (2 * sizeof(void *) + sizeof(Scalar)) + sizes * sizeof(int64_t));
        if (heap == NULL) {
            PyErr_NoMemory();
            return 0;
        }
        frame->heap = heap;
        frame->scalars = (Scalar *)heap;
        frame->sizes = (int64_t *)(frame->scalars + count);
        frame->pointers = (void **)(frame->sizes + sizes);
        frame->made = (PyObject **)(frame->pointers + count);
    }
    frame->result_sizes = frame->sizes + self->size_count;
    for (Py_ssize_t i = 0; i < self->result_count; i++)
        frame->made[i] = NULL;
    return 1;
}

static void frame_close(Frame *frame, const Caller *self)
{
    for (Py_ssize_t i = 0; i < self->result_count; i++)
        Py_XDECREF(frame->made[i]);
    if (frame->heap != NULL)
        PyMem_Free(frame->heap);
}

/* Each of the readers below gives 1 for a good argument and 0 for a bad one, in the latter case perhaps with a Python
   error set that is not about the argument (no memory, an interrupt). */

static int read_integer(const Slot *slot, PyObject *value, Scalar *scalar)
{
    PyObject *number;
    if (PyLong_Check(value))
        number = Py_NewRef(value);
    else if (PyArray_IsScalar(value, Integer) && !PyArray_IsScalar(value, Timedelta))
        number = PyNumber_Index(value);
    else
        return 0;
    if (number == NULL)
        return 0;
    int good;
    if (slot->kind == 'u') {
        uint64_t read = PyLong_AsUnsignedLongLong(number);
        good = !PyErr_Occurred();
        if (!good && PyErr_ExceptionMatches(PyExc_OverflowError))
            PyErr_Clear();
        good = good && (slot->width == 8 || read >> (8 * slot->width) == 0);
        switch (slot->width) {
        case 1: scalar->u8 = (uint8_t)read; break;
        case 2: scalar->u16 = (uint16_t)read; break;
        case 4: scalar->u32 = (uint32_t)read; break;
        default: scalar->u64 = read; break;
        }
    } else {
        int overflow;
        int64_t read = PyLong_AsLongLongAndOverflow(number, &overflow);
        int64_t top = INT64_MAX >> (64 - 8 * slot->width);
        good = !overflow && read <= top && read >= -top - 1;
        switch (slot->width) {
        case 1: scalar->i8 = (int8_t)read; break;
        case 2: scalar->i16 = (int16_t)read; break;
        case 4: scalar->i32 = (int32_t)read; break;
        default: scalar->i64 = read; break;
        }
    }
    Py_DECREF(number);
    return good;
}

/* Store the bfloat16 nearest to a double, ties to even, as the float that has its value, and give that. */
static double store_bfloat(double value, float *place)
{
    double nearest = value;
    if (isfinite(value) && value != 0.0) {
        int exponent;
        frexp(value, &exponent);
        double step = ldexp(1.0, (exponent < -125 ? -125 : exponent) - 8); /* what the last bit of it is worth */
        nearest = nearbyint(value / step) * step;
    }
    *place = fabs(nearest) < ldexp(1.0, 128) ? (float)nearest : (float)copysign(HUGE_VAL, nearest);
    if (isnan(nearest))
        *place = (float)nearest;
    return *place;
}

/* Store a double as the slot's type; 0 if a finite value leaves the range. Rounds; *stored is what it became. */
static int store_float(const Slot *slot, double value, Scalar *scalar, double *stored)
{
    if (slot->kind == 'E') {
        *stored = store_bfloat(value, &scalar->f32);
        return !(isfinite(value) && isinf(*stored));
    }
    if (slot->width == 8) {
        scalar->f64 = *stored = value;
        return 1;
    }
    if (slot->width == 4) {
        scalar->f32 = (float)value;
        *stored = scalar->f32;
        return !(isfinite(value) && isinf(scalar->f32));
    }
    if (PyFloat_Pack2(value, scalar->f16, PY_LITTLE_ENDIAN) < 0) {
        if (PyErr_ExceptionMatches(PyExc_OverflowError))
            PyErr_Clear();
        return 0;
    }
    *stored = PyFloat_Unpack2(scalar->f16, PY_LITTLE_ENDIAN);
    return 1;
}

/* Whether a scalar of NumPy has a type of this number. */
static int is_of_type(PyObject *scalar, int type_num)
{
    PyArray_Descr *type = PyArray_DescrFromScalar(scalar);
    int is_same = type != NULL && type->type_num == type_num;
    Py_XDECREF(type);
    return is_same;
}

/* Up to here each integer is a double. */
#define EXACT ((int64_t)1 << 53)

static int read_float(const Slot *slot, PyObject *value, Scalar *scalar)
{
    double stored;
    if (PyFloat_Check(value))
        return store_float(slot, PyFloat_AS_DOUBLE(value), scalar, &stored);
    if (PyArray_IsScalar(value, Float)) /* NumPy's own conversion makes an array of it first */
        return store_float(slot, (double)PyArrayScalar_VAL(value, Float), scalar, &stored);
    if (PyArray_IsScalar(value, Half)) {
        double read = PyFloat_AsDouble(value);
        return !PyErr_Occurred() && store_float(slot, read, scalar, &stored);
    }
    if (slot->kind == 'E' && PyArray_IsScalar(value, Generic) && is_of_type(value, slot->type_num)) {
        double read = PyFloat_AsDouble(value);
        return !PyErr_Occurred() && store_float(slot, read, scalar, &stored);
    }
    PyObject *number;
    if (PyLong_Check(value))
        number = Py_NewRef(value);
    else if (PyArray_IsScalar(value, Integer) && !PyArray_IsScalar(value, Timedelta))
        number = PyNumber_Index(value);
    else
        return 0;
    if (number == NULL)
        return 0;
    /* An integer must arrive exactly: a float was rounded before, an integer never was. */
    int good = 0, overflow;
    const int64_t whole = PyLong_AsLongLongAndOverflow(number, &overflow);
    if (!overflow && whole >= -EXACT && whole <= EXACT) {
        Py_DECREF(number);
        return store_float(slot, (double)whole, scalar, &stored) && stored == (double)whole;
    }
    double read = PyLong_AsDouble(number);
    if (PyErr_Occurred()) {
        if (PyErr_ExceptionMatches(PyExc_OverflowError))
            PyErr_Clear();
    } else if (store_float(slot, read, scalar, &stored)) {
        PyObject *back = PyLong_FromDouble(stored);
        good = back != NULL && PyObject_RichCompareBool(number, back, Py_EQ) == 1;
        Py_XDECREF(back);
    }
    Py_DECREF(number);
    return good;
}

/* A complex number, or one that a float may be: each part is rounded, and a finite one must stay finite. */
static int read_complex(const Slot *slot, PyObject *value, Scalar *scalar)
{
    Slot part = *slot;
    part.width = slot->width / 2;
    Scalar real, imaginary = {0};
    if (PyComplex_Check(value) || PyArray_IsScalar(value, CFloat)) {
        double stored;
        Py_complex read = PyComplex_AsCComplex(value);
        if (PyErr_Occurred() || !store_float(&part, read.real, &real, &stored) ||
            !store_float(&part, read.imag, &imaginary, &stored))
            return 0;
    } else if (!read_float(&part, value, &real)) {
        return 0;
    }
    if (part.width == 8) {
        scalar->c128[0] = real.f64;
        scalar->c128[1] = imaginary.f64;
    } else {
        scalar->c64[0] = real.f32;
        scalar->c64[1] = imaginary.f32;
    }
    return 1;
}

static int read_bool(PyObject *value, Scalar *scalar)
{
    if (!PyBool_Check(value) && !PyArray_IsScalar(value, Bool))
        return 0;
    scalar->u8 = (uint8_t)(PyObject_IsTrue(value) == 1);
    return 1;
}

static int read_scalar(const Slot *slot, PyObject *value, Scalar *scalar)
{
    switch (slot->kind) {
    case 'E':
    case 'f': return read_float(slot, value, scalar);
    case 'c': return read_complex(slot, value, scalar);
    case 'b': return read_bool(value, scalar);
    default: return read_integer(slot, value, scalar);
    }
}

static int accepts(const Caller *self, const Slot *slot, PyObject *value)
{
    if (!PyArray_CheckExact(value)) {
        if (!PyArray_Check(value))
            return 0;
        PyObject *answer = PyObject_CallOneArg(self->is_plain, value);
        if (answer == NULL)
            return 0;
        int is_plain = answer == Py_True;
        Py_DECREF(answer);
        if (!is_plain)
            return 0;
    }
    PyArrayObject *array = (PyArrayObject *)value;
    if (PyArray_TYPE(array) != slot->type_num) {
        /* C has two types of 64 bits; NumPy numbers them apart, though they are one. */
        const PyArray_Descr *type = PyArray_DESCR(array);
        if (type->type_num >= NPY_USERDEF || type->kind != slot->kind || PyArray_ITEMSIZE(array) != slot->width)
            return 0;
    }
    int flags = slot->written ? NPY_ARRAY_CARRAY : NPY_ARRAY_CARRAY_RO;
    if (slot->strided)
        flags &= ~NPY_ARRAY_C_CONTIGUOUS;
    return PyArray_NDIM(array) == slot->rank && PyArray_CHKFLAGS(array, flags) && PyArray_ISNOTSWAPPED(array);
}

/* Lay out the strides of a contiguous array in elements, without a division. */
static void lay_out_row_major(int rank, const npy_intp *shape, int64_t *strides)
{
    int64_t step = 1;
    for (int k = rank - 1; k >= 0; k--) {
        strides[k] = shape[k] > 1 ? step : 1;
        step *= shape[k];
    }
    for (int k = 0; step == 0 && k < rank; k++)
        strides[k] = 1;
}

/* Lay out the strides of an array in elements, 1 where they lead nowhere; 0 for one that may not be passed. */
static int read_strides(const Slot *slot, PyArrayObject *array, int64_t *strides)
{
    if (PyArray_IS_C_CONTIGUOUS(array)) {
        lay_out_row_major(slot->rank, PyArray_DIMS(array), strides);
        return 1;
    }
    npy_intp size = PyArray_SIZE(array);
    if (size > LARGEST)
        return 0;
    for (int k = 0; k < slot->rank; k++) {
        int64_t stride = PyArray_STRIDE(array, k);
        int leads = PyArray_DIM(array, k) > 1 && size != 0;
        if (leads && stride % slot->width != 0)
            return 0;
        strides[k] = leads ? stride / slot->width : 1;
    }
    return !slot->written || !overlaps_itself(array);
}

/* Whether two arrays may share a byte. */
static int overlap(const Slot *left_slot, PyObject *left, const Slot *right_slot, PyObject *right)
{
    PyArrayObject *a = (PyArrayObject *)left, *b = (PyArrayObject *)right;
    if ((left_slot->strided && !PyArray_IS_C_CONTIGUOUS(a)) || (right_slot->strided && !PyArray_IS_C_CONTIGUOUS(b)))
        return strided_overlap(a, b);
    uintptr_t a_start = (uintptr_t)PyArray_DATA(a), b_start = (uintptr_t)PyArray_DATA(b);
    uintptr_t a_size = (uintptr_t)PyArray_NBYTES(a), b_size = (uintptr_t)PyArray_NBYTES(b);
    return a_size != 0 && b_size != 0 && a_start < b_start + b_size && b_start < a_start + a_size;
}

/* Check all arguments and fill in the frame's pointers and sizes. */
static int check(const Caller *self, PyObject *const *arguments, Frame *frame)
{
    const Slot *slots = self->slots;
    Py_ssize_t count = self->argument_count;
    /* Scalars first: reading one may run Python code, which could still change an array. */
    for (Py_ssize_t i = 0; i < count; i++) {
        if (slots[i].is_array)
            continue;
        if (!read_scalar(&slots[i], arguments[i], &frame->scalars[i]))
            return 0;
        frame->pointers[i] = &frame->scalars[i];
    }
    for (Py_ssize_t i = 0; i < count; i++)
        if (slots[i].is_array && !accepts(self, &slots[i], arguments[i]))
            return 0;
    int64_t *sizes = frame->sizes;
    for (Py_ssize_t i = 0; i < count; i++) {
        if (!slots[i].is_array)
            continue;
        PyArrayObject *array = (PyArrayObject *)arguments[i];
        frame->pointers[i] = PyArray_DATA(array);
        for (int k = 0; k < slots[i].rank; k++)
            *sizes++ = PyArray_DIM(array, k);
        if (slots[i].strided) {
            if (!read_strides(&slots[i], array, sizes))
                return 0;
            sizes += slots[i].rank;
        }
        for (Py_ssize_t j = 0; j < i; j++)
            if (slots[j].is_array && (slots[i].written || slots[j].written) &&
                overlap(&slots[i], arguments[i], &slots[j], arguments[j]))
                return 0;
    }
    return 1;
}

/* Make the arrays and places that the results are written to; gives a status, or REFUSED with a Python error set. */
static int32_t make_results(const Caller *self, Frame *frame)
{
    Py_ssize_t count = self->argument_count;
    if (self->results != NULL) {
        int32_t status = self->results(frame->sizes, frame->pointers, frame->result_sizes);
        if (status != FINE)
            return status;
    }
    const int64_t *sizes = frame->result_sizes;
    for (Py_ssize_t i = 0; i < self->result_count; i++) {
        const Slot *slot = &self->slots[count + i];
        if (slot->is_array) {
            npy_intp shape[NPY_MAXDIMS];
            for (int k = 0; k < slot->rank; k++)
                shape[k] = (npy_intp)*sizes++;
            frame->made[i] = PyArray_EMPTY(slot->rank, shape, slot->type_num, 0);
            if (frame->made[i] == NULL)
                return REFUSED;
            frame->pointers[count + i] = PyArray_DATA((PyArrayObject *)frame->made[i]);
        } else {
            frame->scalars[count + i].u64 = 0;
            frame->pointers[count + i] = &frame->scalars[count + i];
        }
    }
    return FINE;
}

/* The results as Python wants them: nothing, one, or a tuple. The caller of this owns what it gives. */
static PyObject *take_results(const Caller *self, Frame *frame)
{
    Py_ssize_t count = self->argument_count;
    for (Py_ssize_t i = 0; i < self->result_count; i++) {
        const Slot *slot = &self->slots[count + i];
        if (slot->is_array)
            continue;
        PyArray_Descr *type = PyArray_DescrFromType(slot->type_num);
        if (type == NULL)
            return NULL;
        if (slot->kind == 'E') /* the upper half of the bits of a float */
            frame->scalars[count + i].u16 = (uint16_t)(frame->scalars[count + i].u32 >> 16);
        frame->made[i] = PyArray_Scalar(&frame->scalars[count + i], type, NULL);
        Py_DECREF(type);
        if (frame->made[i] == NULL)
            return NULL;
    }
    if (self->result_count == 0)
        Py_RETURN_NONE;
    if (self->result_count == 1)
        return Py_NewRef(frame->made[0]);
    PyObject *results = PyTuple_New(self->result_count);
    for (Py_ssize_t i = 0; results != NULL && i < self->result_count; i++)
        PyTuple_SET_ITEM(results, i, Py_NewRef(frame->made[i]));
    return results;
}

static PyTypeObject CallerType;

/* Keep what has answered a call with arrays in Fortran order, so that later ones need no Python. Without the GIL it could
   be called while another thread puts another one there. */
static void keep_turned(Caller *self, PyObject *given)
{
#ifndef Py_GIL_DISABLED
    const Caller *turned = (const Caller *)given;
    if (Py_TYPE(given) == &CallerType && turned->argument_count == self->argument_count
        && turned->result_count == self->result_count && turned->size_count == self->size_count
        && turned->result_size_count == self->result_size_count)
        Py_XSETREF(self->turned, (Caller *)Py_NewRef(given));
#endif
}

/* Have Python find out and raise what is wrong with this call, or take it over. */
static PyObject *refuse(const Caller *self, int32_t status, PyObject *const *given, Py_ssize_t count, PyObject *names)
{
    if (PyErr_Occurred())
        return NULL;
    PyObject *arguments = PyTuple_New(count), *keywords = PyDict_New(), *answer = NULL;
    if (arguments == NULL || keywords == NULL)
        goto done;
    for (Py_ssize_t i = 0; i < count; i++)
        PyTuple_SET_ITEM(arguments, i, Py_NewRef(given[i]));
    for (Py_ssize_t i = 0; names != NULL && i < PyTuple_GET_SIZE(names); i++)
        if (PyDict_SetItem(keywords, PyTuple_GET_ITEM(names, i), given[count + i]) < 0)
            goto done;
    answer = PyObject_CallFunction(self->explain, "iOO", (int)status, arguments, keywords);
    if (answer != NULL && PyTuple_Check(answer) && PyTuple_GET_SIZE(answer) >= 1) {
        if (PyTuple_GET_SIZE(answer) > 1)
            keep_turned((Caller *)self, PyTuple_GET_ITEM(answer, 1));
        PyObject *taken_over = Py_NewRef(PyTuple_GET_ITEM(answer, 0));
        Py_SETREF(answer, taken_over);
    } else if (answer != NULL) {
        Py_CLEAR(answer);
        PyErr_SetString(PyExc_SystemError, "a kernel refused its arguments, but the explanation raised nothing");
    }
done:
    Py_XDECREF(arguments);
    Py_XDECREF(keywords);
    return answer;
}

/* How many threads are wanted for a call, 0 if nobody said; -1 with an exception set. */
static int32_t wanted_threads(const Caller *self)
{
    PyObject *own = NULL;
    if (self->threads == NULL)
        return 0;
    if (PyContextVar_Get(self->of_context, Py_None, &own) < 0)
        return -1;
    const long number = own == Py_None ? *(const volatile int32_t *)self->of_process : PyLong_AsLong(own);
    Py_DECREF(own);
    return (int32_t)number;
}

/* Call the library of a Caller, with the GIL released. */
static int32_t enter(const Caller *self, PyObject *const *arguments, const Frame *frame, int32_t threads)
{
    int32_t status;
    /* Another thread may drop or resize an array while the GIL is released; a reference of ours forbids it. */
    for (Py_ssize_t i = 0; i < self->argument_count; i++)
        Py_INCREF(arguments[i]);
    Py_BEGIN_ALLOW_THREADS
    if (threads != 0) { /* OpenMP has a number for each thread: what else this one runs gets its own back */
        const int32_t before = self->threads(threads);
        status = self->entry(frame->pointers, frame->sizes);
        self->threads(before);
    } else {
        status = self->entry(frame->pointers, frame->sizes);
    }
    Py_END_ALLOW_THREADS
    for (Py_ssize_t i = 0; i < self->argument_count; i++)
        Py_DECREF(arguments[i]);
    return status;
}

static void reverse(int64_t *numbers, int count)
{
    for (int i = 0; 2 * i + 1 < count; i++) {
        const int64_t last = numbers[count - 1 - i];
        numbers[count - 1 - i] = numbers[i];
        numbers[i] = last;
    }
}

/* Call with the transposes of all strided arrays. Whatever is wrong, Python finds out. */
static int32_t enter_turned(const Caller *self, PyObject *const *arguments, Frame *frame)
{
    const Caller *turned = (const Caller *)Py_NewRef(self->turned); /* it may get another one meanwhile */
    const int32_t threads = wanted_threads(turned);
    int32_t status = REFUSED;
    int64_t *sizes = frame->sizes;
    for (Py_ssize_t i = 0; i < self->argument_count; i++) {
        const Slot *slot = &self->slots[i];
        if (!slot->is_array)
            continue;
        for (int k = 0; k <= slot->strided; k++, sizes += slot->rank)
            if (slot->strided)
                reverse(sizes, slot->rank);
    }
    if (threads >= 0 && enter(turned, arguments, frame, threads) == FINE)
        status = FINE;
    else if (threads >= 0)
        status = TURNED;
    Py_DECREF(turned);
    return status;
}

/* Call with one argument for each slot. */
static PyObject *run(const Caller *self, PyObject *const *arguments)
{
    Frame frame;
    PyObject *answer = NULL;
    const int32_t threads = wanted_threads(self);
    if (threads < 0 || !frame_open(&frame, self))
        return NULL;
    int32_t status = REFUSED;
    if (check(self, arguments, &frame)) {
        status = make_results(self, &frame);
        if (status == FINE) {
            status = enter(self, arguments, &frame, threads);
            if (status == TURNED && self->turned != NULL)
                status = enter_turned(self, arguments, &frame);
        }
    }
    if (status == FINE)
        answer = take_results(self, &frame);
    else
        answer = refuse(self, status, arguments, self->argument_count, NULL);
    frame_close(&frame, self);
    return answer;
}

/* The position of an argument's name, or -1. */
static Py_ssize_t position(const Caller *self, PyObject *name)
{
    for (Py_ssize_t i = 0; i < self->argument_count; i++) {
        PyObject *other = PyTuple_GET_ITEM(self->names, i);
        if (name == other || PyUnicode_Compare(name, other) == 0)
            return i;
    }
    return -1;
}

/* Put positional and keyword arguments in order; 0 if one is missing, doubled or unknown. */
static int bind(const Caller *self, PyObject *const *given, Py_ssize_t count, PyObject *names, PyObject **bound)
{
    for (Py_ssize_t i = 0; i < self->argument_count; i++)
        bound[i] = i < count ? given[i] : NULL;
    /* As many as there are slots, none doubled and none unknown: so none is missing either. */
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(names); i++) {
        Py_ssize_t at = position(self, PyTuple_GET_ITEM(names, i));
        if (at < 0 || bound[at] != NULL)
            return 0;
        bound[at] = given[count + i];
    }
    return 1;
}

static PyObject *Caller_vectorcall(PyObject *callable, PyObject *const *given, size_t flags, PyObject *names)
{
    const Caller *self = (const Caller *)callable;
    Py_ssize_t count = PyVectorcall_NARGS(flags);
    Py_ssize_t named = names == NULL ? 0 : PyTuple_GET_SIZE(names);
    if (count + named != self->argument_count)
        return refuse(self, REFUSED, given, count, names);
    if (named == 0)
        return run(self, given);
    PyObject *small[SMALL_POINTERS], *answer;
    PyObject **bound = small;
    if (self->argument_count > SMALL_POINTERS) {
        bound = PyMem_New(PyObject *, (size_t)self->argument_count);
        if (bound == NULL)
            return PyErr_NoMemory();
    }
    if (bind(self, given, count, names, bound))
        answer = run(self, bound);
    else
        answer = refuse(self, REFUSED, given, count, names);
    if (bound != small)
        PyMem_Free(bound);
    return answer;
}

/* Fill in one slot from (is_array, written, strided, type_num, kind, width, rank). */
static int read_slot(Slot *slot, PyObject *row)
{
    int is_array, written, strided, kind;
    if (!PyArg_ParseTuple(row, "pppiCii", &is_array, &written, &strided, &slot->type_num, &kind, &slot->width,
                          &slot->rank))
        return 0;
    slot->is_array = (char)is_array;
    slot->written = (char)written;
    slot->strided = (char)strided;
    slot->kind = (char)kind;
    return 1;
}

/* Caller(entry, results, threads, of_process, of_context, names, slots, explain, is_plain): four addresses, a context
   variable, tuple of str, tuple of rows, two callables. */
static PyObject *Caller_new(PyTypeObject *type, PyObject *arguments, PyObject *keywords)
{
    unsigned long long entry, results, threads, of_process;
    PyObject *of_context, *names, *slots, *explain, *is_plain;
    static char *words[] = {"entry", "results", "threads", "of_process", "of_context", "names", "slots", "explain",
                            "is_plain", NULL};
    if (!PyArg_ParseTupleAndKeywords(arguments, keywords, "KKKKO!O!O!OO", words, &entry, &results, &threads,
                                     &of_process, &PyContextVar_Type, &of_context, &PyTuple_Type, &names,
                                     &PyTuple_Type, &slots, &explain, &is_plain))
        return NULL;
    Caller *self = (Caller *)type->tp_alloc(type, 0);
    if (self == NULL)
        return NULL;
    self->vectorcall = Caller_vectorcall;
    self->entry = (Entry)(uintptr_t)entry;
    self->results = (Results)(uintptr_t)results;
    self->threads = (Threads)(uintptr_t)threads;
    self->of_process = (const int32_t *)(uintptr_t)of_process;
    self->of_context = Py_NewRef(of_context);
    self->names = Py_NewRef(names);
    self->explain = Py_NewRef(explain);
    self->is_plain = Py_NewRef(is_plain);
    self->argument_count = PyTuple_GET_SIZE(names);
    self->result_count = PyTuple_GET_SIZE(slots) - self->argument_count;
    self->slots = PyMem_New(Slot, (size_t)PyTuple_GET_SIZE(slots) + 1);
    if (self->slots == NULL) {
        Py_DECREF(self);
        return PyErr_NoMemory();
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(slots); i++) {
        Slot *slot = &self->slots[i];
        if (!read_slot(slot, PyTuple_GET_ITEM(slots, i))) {
            Py_DECREF(self);
            return NULL;
        }
        if (slot->is_array && i < self->argument_count)
            self->size_count += slot->strided ? 2 * slot->rank : slot->rank;
        else if (slot->is_array)
            self->result_size_count += slot->rank;
    }
    return (PyObject *)self;
}

static int Caller_traverse(Caller *self, visitproc visit, void *arg)
{
    Py_VISIT(self->of_context);
    Py_VISIT(self->names);
    Py_VISIT(self->explain);
    Py_VISIT(self->is_plain);
    Py_VISIT(self->turned);
    return 0;
}

/* No tp_clear: of a Caller only `turned` changes, so that a call needs no check of its other fields; the functions that
   it refers to clear themselves, and that breaks any cycle. */
static void Caller_dealloc(Caller *self)
{
    PyObject_GC_UnTrack(self);
    Py_XDECREF(self->of_context);
    Py_XDECREF(self->names);
    Py_XDECREF(self->explain);
    Py_XDECREF(self->is_plain);
    Py_XDECREF(self->turned);
    PyMem_Free(self->slots);
    Py_TYPE(self)->tp_free((PyObject *)self);
}

static PyTypeObject CallerType = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "affdsl.Caller",
    .tp_doc = "A compiled kernel, called with NumPy arrays and scalars.",
    .tp_basicsize = sizeof(Caller),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL,
    .tp_vectorcall_offset = offsetof(Caller, vectorcall),
    .tp_call = PyVectorcall_Call,
    .tp_new = Caller_new,
    .tp_traverse = (traverseproc)Caller_traverse,
    .tp_dealloc = (destructor)Caller_dealloc,
};

static int module_exec(PyObject *module)
{
    import_array1(-1);
    if (PyType_Ready(&CallerType) < 0)
        return -1;
    return PyModule_AddObjectRef(module, "Caller", (PyObject *)&CallerType);
}

static PyModuleDef_Slot module_slots[] = {
    {Py_mod_exec, (void *)module_exec},
#ifdef Py_GIL_DISABLED
    {Py_mod_gil, Py_MOD_GIL_NOT_USED},
#endif
    {0, NULL},
};

static PyModuleDef module_definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "affdsl_entry",
    .m_doc = "The call of a compiled kernel.",
    .m_slots = module_slots,
};

PyMODINIT_FUNC PyInit_affdsl_entry(void)
{
    return PyModuleDef_Init(&module_definition);
}
