// How Python calls the core.
//
// A function, or a method of a class, is exported with what it takes and returns, which its own
// type says: numbers, objects that the core has made, and arrays, which come as spans.

#pragma once

#include "base.hpp"

#include <functional>

namespace dfopt {

// An array of NumPy. Python passes the kind and the size of its rows along, so that a structure
// that has changed on one side only is noticed in every call.
struct Passed {
    const void* data;
    std::int64_t rows, row_bytes;
    char kind; // as in NumPy: b, i and f are numbers, V is a structure
};

// How numbers cross, and, below, objects and arrays: `Type` is what Python sees, and `kind` its
// name. A call returns `misfit` if the arrays that it got do not fit.
template <typename Number> struct Crossing {
    using Type = std::conditional_t<std::is_floating_point_v<Number>, double, std::int64_t>;
    static constexpr char kind = std::is_same_v<Type, double>   ? 'f'
                                 : std::is_same_v<Number, bool> ? 'b'
                                                                : 'i';
    static constexpr Type misfit = -1;

    static bool fits(Type) { return true; }
    static Number in(Type number) { return static_cast<Number>(number); }
    static Type out(Number number) { return static_cast<Type>(number); }
};

template <typename Object> struct Crossing<Object&> : Crossing<std::int64_t> {
    static Object& in(std::int64_t object) { return *reinterpret_cast<Object*>(object); }
};

template <typename Object> struct Crossing<Object*> : Crossing<std::int64_t> {
    static std::int64_t out(Object* made) {
        return made == nullptr ? Crossing::misfit : reinterpret_cast<std::int64_t>(made);
    }
};

template <typename Row> struct Crossing<std::span<Row>> {
    using Type = Passed;
    static constexpr char kind = 'a';
    static constexpr char row_kind =
        std::is_class_v<Row> ? 'V' : Crossing<std::remove_const_t<Row>>::kind;
    static constexpr Type misfit = {nullptr, -1, sizeof(Row), row_kind};

    static bool fits(const Type& array) {
        return array.kind == row_kind && array.row_bytes == sizeof(Row);
    }
    static std::span<Row> in(const Type& array) {
        return {static_cast<Row*>(const_cast<void*>(array.data)),
                static_cast<std::size_t>(array.rows)};
    }
    static Type out(std::span<Row> rows) {
        return {rows.data(), std::ssize(rows), sizeof(Row), row_kind};
    }
};

// What Python finds under the name of a function: where it begins, and the kinds of what it returns
// and takes.
struct Function {
    void* begin;
    const char* kinds;
};

template <auto function, typename Result, typename... Taken> struct Call {
    using Returned = Crossing<std::conditional_t<std::is_void_v<Result>, bool, Result>>;
    static constexpr char kinds[] = {Returned::kind, Crossing<Taken>::kind..., '\0'};

    static typename Returned::Type call(typename Crossing<Taken>::Type... passed) {
        if (!(Crossing<Taken>::fits(passed) && ...)) return Returned::misfit;
        const auto called = [&] { return std::invoke(function, Crossing<Taken>::in(passed)...); };
        if constexpr (std::is_void_v<Result>)
            return called(), true;
        else
            return Returned::out(called());
    }

    static Function exported() { return {reinterpret_cast<void*>(&call), kinds}; }
};

template <auto function, typename Result, typename... Taken>
Function exported(Result (*)(Taken...)) {
    return Call<function, Result, Taken...>::exported();
}
template <auto method, typename Result, typename Object, typename... Taken>
Function exported(Result (Object::*)(Taken...)) {
    return Call<method, Result, Object&, Taken...>::exported();
}
template <auto method, typename Result, typename Object, typename... Taken>
Function exported(Result (Object::*)(Taken...) const) {
    return Call<method, Result, Object&, Taken...>::exported();
}

// Returns a new object, which Python destroys after that; nothing if the class says that its arrays
// do not fit each other.
template <typename Object, typename... Taken> Object* created(Taken... taken) {
    return Object::fit(taken...) ? new Object(taken...) : nullptr;
}
template <typename Object, typename... Taken> constexpr auto creator(bool (*)(Taken...)) {
    return &created<Object, Taken...>;
}
template <typename Object> void destroyed(Object& object) { delete &object; }

} // namespace dfopt

// Exports a function, or a method of a class, under a name.
#define DFOPT_FUNCTION(name, ...)                                                                  \
    extern "C" {                                                                                   \
    __attribute__((visibility("default"))) dfopt::Function dfopt_##name =                          \
        dfopt::exported<__VA_ARGS__>(__VA_ARGS__);                                                 \
    }

// Exports what makes an object of a class; Python destroys the object after that.
#define DFOPT_CREATOR(name, object, ...)                                                           \
    DFOPT_FUNCTION(name##_create, __VA_ARGS__)                                                     \
    DFOPT_FUNCTION(name##_destroy, &dfopt::destroyed<object>)

// Exports a class. It says by `fit` whether the arrays fit each other that its constructor takes.
#define DFOPT_OBJECT(name, object) DFOPT_CREATOR(name, object, dfopt::creator<object>(&object::fit))
